// libmariadb's and the servers' error numbers, by what the caller should do. The only place that
// knows them.
#pragma once

#include <string_view>

#include "base/result.h"

namespace recourse::sql::mysql {

// What a server answers to many rows in one message, for a statement that it takes only one by one.
inline constexpr unsigned int kNotInBulk = 1295;

Error translate(unsigned int number, std::string_view message);

// Nothing can follow on this connection.
bool ends_connection(unsigned int number);

// As the answer to COMMIT it leaves open whether the transaction stands.
bool leaves_commit_open(unsigned int number);

}  // namespace recourse::sql::mysql

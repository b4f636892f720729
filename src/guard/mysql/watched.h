// A statement that changes a table, called off when it makes others wait.
#pragma once

#include <string>

#include "base/result.h"
#include "guard/dialect.h"

namespace recourse::guard::mysql {

// kExhausted: it stood in the queue for the whole table for longer than the application can bear,
// and was ended by its watcher.
Result<> run_watched(sql::Connection& connection, const std::string& statement, Beside beside);

}  // namespace recourse::guard::mysql

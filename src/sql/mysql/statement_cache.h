// Prepared statements by their text.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <string>
#include <string_view>

#include "base/result.h"
#include "sql/mysql/wire.h"

namespace recourse::sql::mysql {

class StatementCache {
 public:
  // Valid until the next call.
  Result<MYSQL_STMT*> get(Wire& wire, std::string_view text);
  // Prepared anew the next time. For a statement whose rows ended in an error: the library takes it
  // for one with rows still to come, and its next execution would wait for them instead of being
  // sent.
  void forget(std::string_view text);

 private:
  // The texts are constants of this program, except for the length of lists in them. Beyond this
  // many the cache starts again, so that a server's max_prepared_stmt_count is never near.
  static constexpr std::size_t kStatementsMax = 200;

  std::map<std::string, StatementHandle, std::less<>> statements_;
};

}  // namespace recourse::sql::mysql

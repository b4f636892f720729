// SQLite behind sql::Connection. What is particular to it: there is no server, so a deadline stops
// a long statement from inside, and nothing is ever in doubt but a commit whose flush failed.
#pragma once

#include <memory>
#include <string>

#include "base/result.h"
#include "sql/connection.h"

namespace recourse::sql::sqlite {

enum class Access : std::uint8_t {
  kWrite,  // creates the file where it is missing; write-ahead log, every commit flushed
  kRead,
  // Somebody else's file, which must exist: journal and flushing stay as its owner has them.
  kForeign,
};

Result<std::unique_ptr<Connection>> open(const std::string& path, Access access);

}  // namespace recourse::sql::sqlite

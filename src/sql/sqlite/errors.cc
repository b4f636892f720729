#include "sql/sqlite/errors.h"

#include <fmt/format.h>

namespace recourse::sql::sqlite {
namespace {

ErrorCode code_of(int extended) {
  if (extended == SQLITE_CONSTRAINT_UNIQUE || extended == SQLITE_CONSTRAINT_PRIMARYKEY) {
    return ErrorCode::kConflict;
  }
  switch (extended & 0xFF) {
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
    case SQLITE_INTERRUPT:
    case SQLITE_FULL:
    case SQLITE_READONLY:
    case SQLITE_IOERR:
    case SQLITE_NOMEM:
    case SQLITE_PROTOCOL: return ErrorCode::kUnavailable;
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB: return ErrorCode::kCorrupt;
    default: return ErrorCode::kInvalid;
  }
}

std::string_view hint_for(int extended) {
  switch (extended & 0xFF) {
    case SQLITE_FULL: return "; make room on the disk, and work goes on by itself";
    case SQLITE_READONLY:
      return "; make the file and its directory writable, and work goes on by itself";
    case SQLITE_CANTOPEN:
      return "; check that the directory exists and that this user may write there";
    case SQLITE_NOTADB: return "; the file is something else: name another one";
    case SQLITE_CORRUPT: return "; restore it from a backup";
    case SQLITE_INTERRUPT: return "; the deadline of the call passed";
    case SQLITE_BUSY: return "; another program has the file locked";
    default: return "";
  }
}

}  // namespace

Error translate(sqlite3* handle, int code) {
  const int extended = handle == nullptr ? code : sqlite3_extended_errcode(handle);
  const char* text = handle == nullptr ? sqlite3_errstr(code) : sqlite3_errmsg(handle);
  return {code_of(extended), fmt::format("SQLite: {}{}", text, hint_for(extended))};
}

}  // namespace recourse::sql::sqlite

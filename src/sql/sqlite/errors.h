#pragma once

#include <sqlite3.h>

#include "base/result.h"

namespace recourse::sql::sqlite {

// What the last call on `handle`, which answered `code`, means for the caller.
Error translate(sqlite3* handle, int code);

}  // namespace recourse::sql::sqlite

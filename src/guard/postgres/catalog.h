// What PostgreSQL's catalog says of a table.
#pragma once

#include <optional>
#include <string>

#include "base/result.h"
#include "guard/layout.h"
#include "sql/connection.h"

namespace recourse::guard::postgres {

// Found by the search path, as an unqualified name in a statement is.
Result<std::optional<Layout>> read_layout(sql::Connection& connection, const std::string& table);

}  // namespace recourse::guard::postgres

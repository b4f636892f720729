// What the catalog of MariaDB or MySQL says of a table.
#pragma once

#include <optional>
#include <string>

#include "base/result.h"
#include "guard/layout.h"
#include "sql/connection.h"

namespace recourse::guard::mysql {

Result<std::optional<Layout>> read_layout(sql::Connection& connection, const std::string& table);

}  // namespace recourse::guard::mysql

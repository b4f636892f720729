// What a database says about how it would run a statement.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sql/connection.h"
#include "tests/support/bulk_rows.h"
#include "tests/support/recorded_statements.h"

namespace recourse::tests {

// One table, as one step of a plan reads it.
struct Access {
  std::string table;
  // By the names of PostgreSQL; empty where no index is used.
  std::string index;
  // All of the table, or all of an index.
  bool is_scan = false;
};

struct Plan {
  std::vector<Access> accesses;
  std::string text;  // for people
};

// With the values that the statement was recorded with.
Plan explain(Database database, sql::Connection& connection, const Statement& statement);

// PostgreSQL settles on one plan for all values after a few executions: that one.
Plan explain_for_any_values(sql::Connection& connection, const Statement& statement);

// Rows that the server touched while it ran the statement, as it counted them. It is run, and what
// it wrote is rolled back. SQLite counts none: there a plan without a scan has to do.
std::int64_t rows_read(Database database, sql::Connection& connection, const Statement& statement);

}  // namespace recourse::tests

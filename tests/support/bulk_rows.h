// Tables filled by the database itself, for tests that need many rows: hundreds of thousands in
// seconds, without a store's verbs in between. What is filled in is older than any id a test makes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "base/result.h"
#include "base/time.h"
#include "sql/connection.h"

namespace recourse::tests {

enum class Database : std::uint8_t { kPostgres, kMariadb, kSqlite };

// For messages and names.
std::string to_string(Database database);

struct BulkTasks {
  std::size_t count = 0;
  std::string kind = "mail";
  // In SQL, over the row's number n.
  std::string priority = "n % 11";
  // The number of the first row. More rows of a table need numbers of their own.
  std::size_t first = 1;
};

// Pending tasks that become due at `due`. Their counts are not kept: for tests of cost only.
Result<> add_waiting(Database database, sql::Connection& connection, const BulkTasks& tasks,
                     TimePoint due);
// Archived tasks that succeeded and expire at `expires`.
Result<> add_finished(Database database, sql::Connection& connection, const BulkTasks& tasks,
                      TimePoint expires);

}  // namespace recourse::tests

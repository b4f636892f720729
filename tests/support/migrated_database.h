// Databases that have the store's tables from the beginning. To make them takes three times as long
// as to copy them, and longer than most cases.
//
// PostgreSQL copies a database: each case gets a copy of one that the first test to need it has
// migrated. MariaDB cannot; there a case empties the tables that the case before it has used, which
// a process keeps for its own cases.
#pragma once

#include <memory>
#include <string>

#include "tests/support/test_servers.h"

namespace recourse::tests {

// Dropped in the end, like any fresh one.
class MigratedPostgres final : public FreshPostgres {
 public:
  MigratedPostgres();
};

// For cases that end all their transactions and make no tables. Dropped with the process.
class MigratedMariadb {
 public:
  MigratedMariadb();
  ~MigratedMariadb();
  MigratedMariadb(const MigratedMariadb&) = delete;
  MigratedMariadb& operator=(const MigratedMariadb&) = delete;

  [[nodiscard]] std::string url() const;

 private:
  std::unique_ptr<FreshMariadb> database_;
};

}  // namespace recourse::tests

// One kind of database behind one face, for tests that hold all three to the same promise.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "sql/connection.h"
#include "store/opened.h"
#include "store/retention.h"
#include "tests/support/bulk_rows.h"
#include "tests/support/recorded_statements.h"

namespace recourse::tests {

// Empty and of its own, gone when the test is over. What was opened on it must be closed before.
class FreshDatabase {
 public:
  virtual ~FreshDatabase() = default;

  [[nodiscard]] virtual Database kind() const = 0;
  // On SQLite one at a time.
  virtual std::unique_ptr<store::OpenedStore> open(const store::Retention& retention = {}) = 0;
  // The same, noting what it sends, and never taking a short cut where it happens to be slow. The
  // tables are there already.
  virtual std::unique_ptr<store::OpenedStore> open_recorded(
      Recorder& recorder, const store::Retention& retention = {}) = 0;
  // With the settings of the store's own connections.
  virtual std::unique_ptr<sql::Connection> connect() = 0;
};

std::unique_ptr<FreshDatabase> fresh_database(Database kind);

// What a test over several databases is called on each.
inline std::string database_name(const testing::TestParamInfo<Database>& database) {
  return to_string(database.param);
}

}  // namespace recourse::tests

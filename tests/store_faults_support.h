// Stores on database servers, for tests that break the way to them.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <ostream>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/log.h"
#include "base/ulid_source.h"
#include "store/contract/contract.h"
#include "store/mysql/mysql_store.h"
#include "store/opened.h"
#include "store/postgres/postgres_store.h"
#include "tests/support/private_server.h"
#include "tests/support/test_servers.h"

namespace recourse::tests {

// GoogleTest finds it by its name.
// NOLINTNEXTLINE(readability-identifier-naming)
inline void PrintTo(ServerKind kind, std::ostream* out) { *out << name_of(kind); }

inline std::string case_name(const testing::TestParamInfo<ServerKind>& one) {
  return one.param == ServerKind::kPostgres ? "Postgres" : "Mariadb";
}

inline Result<std::unique_ptr<store::OpenedStore>> open_at(ServerKind kind,
                                                           const std::string& url) {
  static NullLog no_log;
  if (kind == ServerKind::kPostgres) return store::postgres::open(url);
  return store::mysql::open(url, no_log);
}

// On the shared test server.
class ServerDatabase {
 public:
  explicit ServerDatabase(ServerKind kind) {
    if (kind == ServerKind::kPostgres) {
      postgres_.emplace();
    } else {
      mariadb_.emplace();
    }
  }
  [[nodiscard]] std::string url() const { return postgres_ ? postgres_->url() : mariadb_->url(); }

 private:
  std::optional<FreshPostgres> postgres_;
  std::optional<FreshMariadb> mariadb_;
};

inline std::vector<task::Task> all_tasks(store::Reader& reader) {
  std::vector<task::Task> tasks;
  std::optional<task::TaskId> after;
  do {
    store::TaskPage page = store::contract::must(
        reader.list({}, after, store::kPageRowsMax, store::contract::kWithin));
    tasks.insert(tasks.end(), page.tasks.begin(), page.tasks.end());
    after = page.next;
  } while (after);
  return tasks;
}

}  // namespace recourse::tests

// Where a test keeps its data, and waiting for what will come true.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <thread>

#include "base/time.h"
#include "tests/support/migrated_database.h"
#include "tests/support/temporary_directory.h"
#include "tests/support/test_servers.h"

namespace recourse::tests {

using namespace std::chrono_literals;

// A database of its own, by the store's name.
class Place {
 public:
  explicit Place(const std::string& store) {
    if (store == "Postgres") postgres_ = std::make_unique<MigratedPostgres>();
    if (store == "Mariadb") mariadb_ = std::make_unique<FreshMariadb>();
    url_ = postgres_           ? postgres_->url()
           : mariadb_          ? mariadb_->url()
           : store == "Sqlite" ? "sqlite:" + (directory_.path() / "engine.db").string()
                               : "memory:";
  }

  [[nodiscard]] const std::string& url() const { return url_; }

 private:
  TemporaryDirectory directory_;
  std::unique_ptr<MigratedPostgres> postgres_;
  std::unique_ptr<FreshMariadb> mariadb_;
  std::string url_;
};

inline bool eventually(const std::function<bool()>& holds, Duration within = 10s) {
  const auto until = std::chrono::steady_clock::now() + within;
  while (!holds()) {
    if (std::chrono::steady_clock::now() > until) return false;
    std::this_thread::sleep_for(5ms);
  }
  return true;
}

}  // namespace recourse::tests

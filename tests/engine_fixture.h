// An engine as a user has it, on a store of its own.
#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <thread>

#include "recourse/engine.h"
#include "tests/support/temporary_directory.h"
#include "tests/support/test_servers.h"

namespace recourse::tests {

using namespace std::chrono_literals;

// A database of its own, by the store's name.
class Place {
 public:
  explicit Place(const std::string& store) {
    if (store == "Postgres") postgres_ = std::make_unique<FreshPostgres>();
    if (store == "Mariadb") mariadb_ = std::make_unique<FreshMariadb>();
    url_ = postgres_           ? postgres_->url()
           : mariadb_          ? mariadb_->url()
           : store == "Sqlite" ? "sqlite:" + (directory_.path() / "engine.db").string()
                               : "memory:";
  }

  [[nodiscard]] const std::string& url() const { return url_; }

 private:
  TemporaryDirectory directory_;
  std::unique_ptr<FreshPostgres> postgres_;
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

class EngineOnStore : public ::testing::TestWithParam<const char*> {
 protected:
  EngineOnStore()
      : place_(GetParam()),
        engine_(Engine::open({.store = place_.url(), .scan_period = 200ms}).value()) {}

  bool reaches(const std::string& id, const std::string& state) {
    return eventually([&] { return engine_.find(id).value().state == state; });
  }
  std::string submit(const SubmitOptions& options = {}) {
    return engine_.submit_bytes("work", "{}", options).value();
  }

  static KindOptions quick() {
    return {.backoff_base = 20ms, .backoff_min = 10ms, .backoff_max = 50ms};
  }

  Place place_;
  Engine engine_;
};

}  // namespace recourse::tests

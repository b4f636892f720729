// An engine as a user has it, on a store of its own.
#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <thread>

#include "recourse/engine.h"
#include "tests/support/place.h"

namespace recourse::tests {

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

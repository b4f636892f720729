// A degrade door as a user has it, on a store of its own.
#pragma once

#include <atomic>
#include <filesystem>
#include <map>
#include <mutex>
#include <stdexcept>
#include <string>
#include <vector>

#include "recourse/degrade.h"
#include "tests/engine_fixture.h"

namespace recourse::tests {

inline constexpr const char* kPoints = "grant-points";

// Idempotent, as the door wants it: it counts what it was asked for, and grants once per id.
class PointsService {
 public:
  // Throws while it is down.
  bool grant(const std::string& id, int amount) {
    ++calls_;
    if (is_down_) throw std::runtime_error("points service is down");
    const std::lock_guard lock(mutex_);
    granted_.emplace(id, amount);
    return true;
  }
  void set_down(bool down) { is_down_ = down; }
  [[nodiscard]] int calls() const { return calls_; }
  [[nodiscard]] std::map<std::string, int> granted() const {
    const std::lock_guard lock(mutex_);
    return granted_;
  }

 private:
  mutable std::mutex mutex_;
  std::atomic<bool> is_down_ = false;
  std::atomic<int> calls_ = 0;
  std::map<std::string, int> granted_;
};

// Lines of the engine's log, by the event's word.
class LogBook {
 public:
  std::function<void(std::string_view, std::string_view)> sink() {
    return [this](std::string_view, std::string_view line) {
      const std::lock_guard lock(mutex_);
      lines_.emplace_back(line);
    };
  }
  [[nodiscard]] int count(std::string_view event) const {
    const std::lock_guard lock(mutex_);
    int found = 0;
    for (const std::string& line : lines_) found += line.find(event) != std::string::npos ? 1 : 0;
    return found;
  }
  [[nodiscard]] std::vector<std::string> lines() const {
    const std::lock_guard lock(mutex_);
    return lines_;
  }

 private:
  mutable std::mutex mutex_;
  std::vector<std::string> lines_;
};

class DegradeOnStore : public ::testing::TestWithParam<const char*> {
 protected:
  DegradeOnStore()
      : place_(GetParam()),
        engine_(Engine::open({.store = place_.url(), .scan_period = 100ms, .log = log_.sink()})
                    .value()) {}

  // Short waits, so that a test sees all of a failure's life.
  DegradeOptions quick() {
    return {.limit = 200ms,
            .first_retry_after = 10ms,
            .spool = (directory_.path() / "spool").string(),
            .clean_when = ""};
  }
  static KindOptions quick_kind() {
    KindOptions options = Degrade::preset();
    options.backoff_base = 10ms;
    options.backoff_min = 1ms;
    options.backoff_max = 20ms;
    options.breaker = false;
    return options;
  }
  Degrade open(const DegradeOptions& options) {
    Degrade degrade = Degrade::on(engine_, options).value();
    degrade.handle_bytes(
        kPoints,
        [this](const Attempt& attempt) { return points_.grant(attempt.id(), amount_of(attempt)); },
        quick_kind());
    engine_.start().value();
    return degrade;
  }
  static int amount_of(const Attempt& attempt) { return std::stoi(attempt.payload()); }

  auto grant(Degrade& degrade, const DegradeKeys& keys, int amount = 10) {
    return degrade.attempt(
        kPoints, std::string_view(std::to_string(amount)), keys,
        [this, amount](const InlineCall& call) { return points_.grant(call.id(), amount); });
  }
  bool reaches(Degrade& degrade, const std::string& id, const std::string& status) {
    return eventually([&] { return degrade.find(id).value().status == status; });
  }

  LogBook log_;
  TemporaryDirectory directory_;
  Place place_;
  PointsService points_;
  Engine engine_;
};

}  // namespace recourse::tests

// A clock that stands still until told otherwise, for tests and for the simulated cluster.
#pragma once

#include <atomic>

#include "base/clock.h"
#include "base/invariant.h"

namespace recourse {

class ManualClock final : public Clock {
 public:
  explicit ManualClock(TimePoint start) : wall_(start.time_since_epoch()) {}

  [[nodiscard]] TimePoint now() const override { return TimePoint(wall_.load()); }
  [[nodiscard]] BootTime since_boot() const override { return BootTime(boot_.load()); }

  void advance(Duration by) {
    invariant(by >= Duration::zero(),
              "time does not run backwards; jump_wall() is for wall clocks");
    boot_ = boot_.load() + by;
    wall_ = wall_.load() + by;
  }
  // What an operator or a time server does to a wall clock: no time passes.
  void jump_wall(Duration by) { wall_ = wall_.load() + by; }

 private:
  // Atomic so that readers may be on any thread; only one thread moves the clock.
  std::atomic<Duration> wall_;
  std::atomic<Duration> boot_{Duration::zero()};
};

}  // namespace recourse

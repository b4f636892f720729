// The clocks of the outside world. Only shells hold a Clock; pure code is handed `now`.
#pragma once

#include "base/time.h"

namespace recourse {

// Counts from the start of the machine, through suspend, and never jumps. Kept apart from wall time
// by type, because a difference between the two means nothing.
struct BootClock {
  using duration = Duration;
  using rep = Duration::rep;
  using period = Duration::period;
  using time_point = std::chrono::time_point<BootClock, Duration>;
  static constexpr bool is_steady = true;
};
using BootTime = BootClock::time_point;

// Safe to call from any thread.
class Clock {
 public:
  virtual ~Clock() = default;

  // What people and databases call now. It may jump, so nothing measures a wait by it.
  [[nodiscard]] virtual TimePoint now() const = 0;
  // What leases and elapsed times are measured by.
  [[nodiscard]] virtual BootTime since_boot() const = 0;
};

// What shells hand to rules as `now`: the wall time at the start, carried on by the boot clock.
// People can read it, and no time server can make it jump.
class SteadyTime {
 public:
  explicit SteadyTime(const Clock& clock)
      : clock_(clock), wall_start_(clock.now()), boot_start_(clock.since_boot()) {}

  [[nodiscard]] TimePoint now() const { return wall_start_ + (clock_.since_boot() - boot_start_); }

 private:
  const Clock& clock_;
  TimePoint wall_start_;
  BootTime boot_start_;
};

class SystemClock final : public Clock {
 public:
  [[nodiscard]] TimePoint now() const override;
  [[nodiscard]] BootTime since_boot() const override;
};

}  // namespace recourse

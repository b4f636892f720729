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

class SystemClock final : public Clock {
 public:
  [[nodiscard]] TimePoint now() const override;
  [[nodiscard]] BootTime since_boot() const override;
};

}  // namespace recourse

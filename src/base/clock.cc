#include "base/clock.h"

#include <ctime>

#include "base/invariant.h"

namespace recourse {

TimePoint SystemClock::now() const {
  return std::chrono::time_point_cast<Duration>(std::chrono::system_clock::now());
}

BootTime SystemClock::since_boot() const {
  timespec time{};
  invariant(clock_gettime(CLOCK_BOOTTIME, &time) == 0, "the kernel has a boot clock");
  return BootTime(std::chrono::duration_cast<Duration>(std::chrono::seconds(time.tv_sec) +
                                                       std::chrono::nanoseconds(time.tv_nsec)));
}

}  // namespace recourse

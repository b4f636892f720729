// Time as the library measures it: whole microseconds, UTC.
#pragma once

#include <chrono>
#include <optional>

namespace recourse {

using Duration = std::chrono::microseconds;
using TimePoint = std::chrono::sys_time<Duration>;

// No attempt starts after it.
struct Deadline {
  std::optional<Duration> in;
  std::optional<TimePoint> at;
};

constexpr Deadline in(Duration from_now) { return {.in = from_now, .at = std::nullopt}; }
constexpr Deadline at(TimePoint moment) { return {.in = std::nullopt, .at = moment}; }

}  // namespace recourse

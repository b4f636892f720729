// Time as a value. Reading a clock is base/clock.h's business, and only shells include that.
#pragma once

#include <algorithm>
#include <chrono>

namespace recourse {

using Duration = std::chrono::microseconds;

// Stored as integer microseconds since 1970, UTC, in every backend: no time zones, no rounding.
using TimePoint = std::chrono::sys_time<Duration>;

// What `available_at` holds while nobody may take a task.
inline constexpr TimePoint kNever = TimePoint::max();

// Delays add up from settings and from downstreams' answers; a sum past the end of time means
// never.
constexpr TimePoint saturating_add(TimePoint time, Duration delay) {
  if (delay > Duration::zero() && time > TimePoint::max() - delay) return TimePoint::max();
  if (delay < Duration::zero() && time < TimePoint::min() - delay) return TimePoint::min();
  return time + delay;
}

constexpr Duration saturating_multiply(Duration delay, Duration::rep times) {
  Duration::rep product = 0;
  if (!__builtin_mul_overflow(delay.count(), times, &product)) return Duration(product);
  return (delay.count() < 0) == (times < 0) ? Duration::max() : Duration::min();
}

}  // namespace recourse

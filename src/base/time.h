// Time as a value. Reading a clock is base/clock.h's business, and only shells include that.
#pragma once

#include <algorithm>
#include <chrono>

namespace recourse {

using Duration = std::chrono::microseconds;

// Stored as integer microseconds since 1970, UTC, in every backend: no time zones, no rounding.
//
// The `now` that rules are handed must not jump, because they measure waits by it: see SteadyTime
// in base/clock.h. Where it goes back all the same, they take it as standing still.
using TimePoint = std::chrono::sys_time<Duration>;

// What `available_at` holds while nobody may take a task.
inline constexpr TimePoint kNever = TimePoint::max();

// The longest wait that a setting or a downstream may ask for.
inline constexpr Duration kLongestWait = std::chrono::hours(24 * 365);

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

// Nothing is less than zero times as long; what is not a number counts as zero.
constexpr Duration saturating_scale(Duration delay, double factor) {
  const double product = static_cast<double>(delay.count()) * factor;
  if (!(product > 0)) return Duration::zero();
  if (product >= static_cast<double>(Duration::max().count())) return Duration::max();
  return Duration(static_cast<Duration::rep>(product));
}

}  // namespace recourse

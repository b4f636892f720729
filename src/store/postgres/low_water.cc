#include "store/postgres/low_water.h"

namespace recourse::store::postgres {
namespace {

using namespace std::chrono_literals;

// A claim of 500 takes about 5 ms where nothing is in its way.
constexpr auto kSlow = 12ms;
constexpr auto kLasts = 10s;
// Inserts that take this long to commit are still seen.
constexpr Duration kMargin = 2s;

}  // namespace

TimePoint LowWater::start_of(const task::Kind& kind, int priority, Clock::time_point now) {
  MutexLock lock(mutex_);
  expire(now);
  const auto mark = marks_.find({kind, priority});
  return mark == marks_.end() ? TimePoint::min() : mark->second;
}

void LowWater::found(const task::Kind& kind, int priority, TimePoint oldest) {
  MutexLock lock(mutex_);
  if (lasts_until_ != Clock::time_point()) marks_[{kind, priority}] = oldest - kMargin;
}

void LowWater::took(Clock::duration duration, Clock::time_point now) {
  MutexLock lock(mutex_);
  expire(now);
  if (duration > kSlow && lasts_until_ == Clock::time_point()) lasts_until_ = now + kLasts;
}

void LowWater::expire(Clock::time_point now) {
  if (now < lasts_until_) return;
  lasts_until_ = {};
  marks_.clear();
}

}  // namespace recourse::store::postgres

#include "store/postgres/low_water.h"

namespace recourse::store::postgres {
namespace {

using namespace std::chrono_literals;

constexpr auto kLasts = 10s;
constexpr auto kLastsWithRoom = 1s;
// Inserts that take this long to commit are still seen at once. Not longer: at 10,000 lives a
// second each tenth of a second leaves 1,000 dead entries to walk over.
constexpr Duration kMargin = 100ms;

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

void LowWater::put_back(const task::Kind& kind, TimePoint available_at) {
  MutexLock lock(mutex_);
  std::erase_if(marks_, [&](const auto& mark) {
    return mark.first.first == kind && mark.second > available_at;
  });
}

void LowWater::took(Clock::duration duration, Clock::time_point now) {
  MutexLock lock(mutex_);
  expire(now);
  if (duration > slow_ && lasts_until_ == Clock::time_point()) lasts_until_ = now + kLasts;
}

void LowWater::fell_short(Clock::time_point now) {
  MutexLock lock(mutex_);
  // Set kLasts before its end.
  if (now + kLasts >= lasts_until_ + kLastsWithRoom) expire(lasts_until_);
}

void LowWater::expire(Clock::time_point now) {
  if (now < lasts_until_) return;
  lasts_until_ = {};
  marks_.clear();
}

}  // namespace recourse::store::postgres

#include "engine/core/scanner.h"

#include "base/planted_bug.h"

namespace recourse::engine {
namespace {

constexpr std::size_t kExpectedMax = 1'000;
// Claims for what comes due within one of these are one claim.
constexpr Duration kGrain = std::chrono::milliseconds(5);

}  // namespace

void Scanner::expect(TimePoint due) {
  const Duration since = due.time_since_epoch();
  if (due == kNever || planted(PlantedBug::kScanTooSeldom)) return;
  expected_.insert(TimePoint((since / kGrain + 1) * kGrain));
  if (expected_.size() > kExpectedMax) expected_.erase(std::prev(expected_.end()));
}

void Scanner::sent(TimePoint now) {
  out_ = true;
  next_ = now + settings_.period * (planted(PlantedBug::kScanTooSeldom) ? 5 : 1);
  expected_.erase(expected_.begin(), expected_.upper_bound(now));
}

TimePoint Scanner::next_wakeup() const {
  if (out_) return kNever;
  return expected_.empty() ? next_ : std::min(next_, *expected_.begin());
}

}  // namespace recourse::engine

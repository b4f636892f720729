// What the store's clock says, as far as a node can know without asking: never later than the
// truth, so that nothing starts early.
#pragma once

#include <algorithm>

#include "base/time.h"

namespace recourse::engine {

// An answer names the store's time at some moment before it arrived, so each gives a lower bound of
// the difference between the two clocks; the best of the last two periods counts, so that a clock
// that was set back is followed too.
class StoreTime {
 public:
  void learn(TimePoint store_now, TimePoint arrived_at) {
    const Duration ahead = store_now - arrived_at;
    this_period_ = std::max(this_period_, ahead);
  }
  // With every heartbeat.
  void next_period() {
    if (this_period_ == kUnknown) return;
    last_period_ = this_period_;
    this_period_ = kUnknown;
  }

  [[nodiscard]] TimePoint at(TimePoint local) const { return saturating_add(local, ahead()); }
  // When this node's clock will show that the store's has reached `store`.
  [[nodiscard]] TimePoint local(TimePoint store) const {
    return store == kNever ? kNever : saturating_add(store, -ahead());
  }

 private:
  static constexpr Duration kUnknown = Duration::min();

  [[nodiscard]] Duration ahead() const {
    const Duration best = std::max(this_period_, last_period_);
    return best == kUnknown ? Duration::zero() : best;
  }

  Duration this_period_ = kUnknown;
  Duration last_period_ = kUnknown;
};

}  // namespace recourse::engine

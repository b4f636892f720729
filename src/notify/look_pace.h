// How long a store that failed is left alone: twice as long with every failure in a row.
//
// Thread safety: none.
#pragma once

#include <algorithm>
#include <chrono>

#include "base/clock.h"

namespace recourse::notify {

class LookPace {
 public:
  static constexpr Duration kFirst = std::chrono::seconds(1);
  static constexpr Duration kLongest = std::chrono::seconds(30);

  void succeeded() { *this = {}; }
  void failed(BootTime now) {
    pause_ = std::clamp(pause_ * 2, kFirst, kLongest);
    until_ = now + pause_;
  }
  // Nothing or less: it may be asked.
  [[nodiscard]] Duration left(BootTime now) const {
    return pause_ == Duration::zero() ? pause_ : until_ - now;
  }

 private:
  Duration pause_ = Duration::zero();
  BootTime until_ = {};
};

}  // namespace recourse::notify

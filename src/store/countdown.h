// What is left of a call's time.
#pragma once

#include <algorithm>
#include <chrono>

#include "base/time.h"

namespace recourse::store {

class Countdown {
 public:
  explicit Countdown(Duration within)
      : end_(std::chrono::steady_clock::now() + std::min(within, kLongestWait)) {}

  [[nodiscard]] Duration left() const {
    return std::max(Duration::zero(),
                    std::chrono::duration_cast<Duration>(end_ - std::chrono::steady_clock::now()));
  }

 private:
  std::chrono::steady_clock::time_point end_;
};

}  // namespace recourse::store

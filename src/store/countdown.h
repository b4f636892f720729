// What is left of a call's time.
#pragma once

#include <algorithm>
#include <chrono>

#include "base/time.h"

namespace recourse::store {

// When a call that may take this long has to be over.
inline std::chrono::steady_clock::time_point deadline_of(Duration within) {
  return std::chrono::steady_clock::now() + std::min(within, kLongestWait);
}

class Countdown {
 public:
  explicit Countdown(Duration within) : end_(deadline_of(within)) {}

  [[nodiscard]] Duration left() const {
    return std::max(Duration::zero(),
                    std::chrono::duration_cast<Duration>(end_ - std::chrono::steady_clock::now()));
  }

 private:
  std::chrono::steady_clock::time_point end_;
};

}  // namespace recourse::store

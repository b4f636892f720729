// The calls that a circuit breaker judges by: the last N, or those of the last stretch of time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <variant>
#include <vector>

#include "base/time.h"
#include "policy/rolling_window.h"

namespace recourse::policy {

struct CallCounts {
  std::int64_t calls = 0;
  std::int64_t failed = 0;
  std::int64_t slow = 0;

  CallCounts& operator+=(const CallCounts& other);
  CallCounts& operator-=(const CallCounts& other);
  friend bool operator==(const CallCounts&, const CallCounts&) = default;
};

class CountWindow {
 public:
  explicit CountWindow(std::size_t size) : ring_(size) {}

  void add(TimePoint, const CallCounts& call);
  [[nodiscard]] const CallCounts& total(TimePoint) const { return total_; }

 private:
  std::vector<CallCounts> ring_;
  std::size_t next_ = 0;
  CallCounts total_;
};

using TimeWindow = RollingWindow<CallCounts>;
using CallWindow = std::variant<CountWindow, TimeWindow>;

}  // namespace recourse::policy

// Sums over the last stretch of time, in ten slices: what is older than the window counts no more,
// what is nearly that old goes with its slice.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "base/invariant.h"
#include "base/time.h"

namespace recourse::policy {

// Counts has +=, -= and starts at zero. Time that goes backwards counts as standing still.
template <class Counts>
class RollingWindow {
 public:
  explicit RollingWindow(Duration window) : slice_(window / static_cast<Duration::rep>(kSlices)) {
    invariant(slice_ > Duration::zero(), "a rolling window is at least ten microseconds long");
  }

  void add(TimePoint now, const Counts& counts) {
    advance(now);
    slices_[current_ % kSlices] += counts;
    total_ += counts;
  }

  [[nodiscard]] const Counts& total(TimePoint now) {
    advance(now);
    return total_;
  }

 private:
  static constexpr std::uint64_t kSlices = 10;

  void advance(TimePoint now) {
    const Duration::rep number = now.time_since_epoch() / slice_;
    const std::uint64_t reached = number < 0 ? 0 : static_cast<std::uint64_t>(number);
    // After a long silence every slice is dropped once, however long it was.
    for (std::uint64_t dropped = 0; current_ < reached; ++dropped) {
      if (dropped == kSlices) current_ = reached - 1;
      Counts& oldest = slices_[++current_ % kSlices];
      total_ -= oldest;
      oldest = Counts{};
    }
  }

  Duration slice_;
  std::uint64_t current_ = 0;
  std::array<Counts, kSlices> slices_{};
  Counts total_{};
};

}  // namespace recourse::policy

// What waits in a wheel: a base class of whatever is to be done then. 16 bytes.
#pragma once

#include <cstdint>

#include "base/invariant.h"

namespace recourse::timing {

struct Block;

// The wheel keeps its address: neither copied nor moved, and not destroyed while it waits.
class Timer {
 public:
  Timer() = default;
  Timer(const Timer&) = delete;
  Timer& operator=(const Timer&) = delete;
  ~Timer() { invariant(!waiting(), "a timer is cancelled before it is destroyed"); }

  [[nodiscard]] bool waiting() const { return block_ != nullptr; }

 private:
  friend class Slot;
  friend class TimingWheel;

  // Among those that advance_to is yielding, and no longer in any slot.
  static constexpr std::uint32_t kFiring = 0xFFFF'FFFF;

  // Entry `index_` of `block_`, which belongs to slot number `slot_`; of the firing ones, where
  // `slot_` is kFiring. No block: nowhere.
  Block* block_ = nullptr;
  std::uint32_t index_ = 0;
  std::uint32_t slot_ = 0;
};
static_assert(sizeof(Timer) == 16);

}  // namespace recourse::timing

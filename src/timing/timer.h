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

  [[nodiscard]] bool waiting() const { return place_ != Place::kNowhere; }

 private:
  friend class Slot;
  friend class TimingWheel;

  enum class Place : std::uint8_t {
    kNowhere,
    kSlot,    // entry `index_` of `block_`
    kFiring,  // entry `index_` of those that advance_to is yielding
  };

  Block* block_ = nullptr;
  std::uint32_t index_ = 0;
  Place place_ = Place::kNowhere;
};

}  // namespace recourse::timing

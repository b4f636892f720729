#pragma once

#include <cstddef>

#include "base/result.h"
#include "base/time.h"

namespace recourse::timing {

struct WheelSettings {
  // How much timers are bunched: one wakes at the end of the tick its time falls into.
  Duration tick = std::chrono::milliseconds(100);
  // Slots of each level; the next power of two is used. More slots, fewer moves between levels.
  std::size_t slots = 512;
  // A node holds no more than this; the rest waits in the store.
  std::size_t max_pending = 100'000;
};

// The constructor of the wheel relies on it.
Result<> validate(const WheelSettings& settings);

}  // namespace recourse::timing

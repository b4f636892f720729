// What goes wrong with machines, drawn one after the other until the quiet period.
#pragma once

#include <array>

#include "base/time.h"
#include "sim/coverage.h"

namespace recourse::sim {

class World;

inline constexpr std::array kMachineFaults{Fault::kCrash,     Fault::kStop,   Fault::kPause,
                                           Fault::kPartition, Fault::kOutage, Fault::kSlowStore,
                                           Fault::kWallJump};

class Faults {
 public:
  explicit Faults(World& world) : world_(world) {}

  void begin();
  // Everything is healed; what is down is started by the world.
  void end();

 private:
  void next();
  void cause(Fault fault);
  [[nodiscard]] Fault draw();
  int any_node();

  World& world_;
};

}  // namespace recourse::sim

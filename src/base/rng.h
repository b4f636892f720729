// Chance, handed in. The same seed gives the same sequence on every platform, so that a simulated
// failure can be replayed; the standard distributions do not promise that, their engine does.
// Not for secrets.
#pragma once

#include <cstdint>
#include <random>

#include "base/time.h"

namespace recourse {

// Thread safety: none; every owner has its own.
class Rng {
 public:
  explicit Rng(std::uint64_t seed) : engine_(seed) {}

  std::uint64_t next() { return engine_(); }

  // Uniform in [low, high], both included.
  std::uint64_t between(std::uint64_t low, std::uint64_t high);
  Duration between(Duration low, Duration high);

  // Uniform in [0, 1).
  double fraction();

 private:
  std::mt19937_64 engine_;
};

}  // namespace recourse

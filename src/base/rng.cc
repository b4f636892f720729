#include "base/rng.h"

#include <limits>

#include "base/invariant.h"

namespace recourse {

std::uint64_t Rng::between(std::uint64_t low, std::uint64_t high) {
  invariant(low <= high, "a random range has its ends in order");
  constexpr std::uint64_t kMax = std::numeric_limits<std::uint64_t>::max();
  const std::uint64_t span = high - low;
  if (span == kMax) return next();
  // The engine's range cut down to whole multiples of the span: a plain modulo favours small
  // values.
  const std::uint64_t choices = span + 1;
  const std::uint64_t excess = (kMax % choices + 1) % choices;
  std::uint64_t drawn = next();
  while (drawn > kMax - excess) drawn = next();
  return low + drawn % choices;
}

Duration Rng::between(Duration low, Duration high) {
  invariant(low <= high, "a random range has its ends in order");
  // Offsets from `low` in unsigned arithmetic, where the widest range still fits.
  const auto start = static_cast<std::uint64_t>(low.count());
  const auto span = static_cast<std::uint64_t>(high.count()) - start;
  return Duration(static_cast<Duration::rep>(start + between(0, span)));
}

double Rng::fraction() {
  constexpr int kMantissaBits = std::numeric_limits<double>::digits;
  return static_cast<double>(next() >> (64 - kMantissaBits)) * 0x1p-53;
}

}  // namespace recourse

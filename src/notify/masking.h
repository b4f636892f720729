// Takes secrets out of what was thrown and answered before it is told to anyone.
//
// The common ones are found by scanners of their own, in one pass each. What a user adds are
// regular expressions, run by RE2: its time grows with the text and never explodes, whatever stands
// in either, and its memory has a bound. (std::regex takes a stack frame a byte, or 35 seconds for
// 20 kB of `a` and the pattern (a+)+b.)
//
// Masking is a net with holes: a secret that looks like nothing is not found. Where a mistake is
// possible it masks too much rather than too little.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace recourse::notify {

enum class Mask : std::uint8_t {
  kUrlPassword,    // scheme://user:HERE@host
  kAuthorization,  // Authorization: HERE; Bearer HERE; Basic HERE
  kSecretValue,    // password=HERE, "api_key": "HERE", client_secret: HERE
  kCardNumber,     // 13 to 19 digits whose check digit is right; the last four stay
  kEmail,          // HERE@example.org
};

inline constexpr std::array kAllMasks{Mask::kUrlPassword, Mask::kAuthorization, Mask::kSecretValue,
                                      Mask::kCardNumber, Mask::kEmail};

constexpr std::string_view to_string(Mask mask) {
  switch (mask) {
    case Mask::kUrlPassword: return "url_password";
    case Mask::kAuthorization: return "authorization";
    case Mask::kSecretValue: return "secret_value";
    case Mask::kCardNumber: return "card_number";
    case Mask::kEmail: return "email";
  }
  std::abort();
}

struct MaskingSettings {
  // Names of people are often wanted in an error, so `email` is not among them.
  std::vector<Mask> masks = {Mask::kUrlPassword, Mask::kAuthorization, Mask::kSecretValue,
                             Mask::kCardNumber};
  // RE2's syntax, without regard to capitals, line by line. Where a pattern has groups, the first
  // is masked, else all that it matches.
  std::vector<std::string> patterns = {};
};

// The error names the pattern and what is wrong with it.
Result<> validate(const MaskingSettings& settings);

inline constexpr std::string_view kMasked = "***";
// Of longer texts only the beginning is looked at and kept; more than anyone is sent.
inline constexpr std::size_t kMaskedBytesMax = 20'000;

// Safe to use from any thread.
class Masker {
 public:
  static Result<Masker> make(const MaskingSettings& settings);

  [[nodiscard]] std::string masked(std::string_view text) const;
  // Of what has a name of its own: all of it where the name says that it is a secret.
  [[nodiscard]] std::string masked_value(std::string_view name, std::string_view value) const;
  // Of what is an id: digits in it are no card number, unless the name speaks of cards. One in ten
  // long numbers has a card's check digit by chance, and what was masked finds nothing.
  [[nodiscard]] std::string masked_id(std::string_view name, std::string_view value) const;

 private:
  struct Patterns;
  Masker() = default;
  [[nodiscard]] bool has(Mask mask) const;
  [[nodiscard]] std::string masked_but(std::optional<Mask> spared, std::string_view text) const;

  std::vector<Mask> masks_;
  std::shared_ptr<const Patterns> patterns_;
};

}  // namespace recourse::notify

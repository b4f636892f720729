// What must not be seen: tokens, keys, passwords. A configuration only names where each is kept,
// `env:NAME` or `file:PATH`; the value is read once and handed on in a type that cannot be printed
// by accident.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <string_view>

#include "base/result.h"

namespace recourse::app {

using Environment = std::map<std::string, std::string>;

class Secret {
 public:
  Secret() = default;
  Secret(std::string reference, std::string value)
      : reference_(std::move(reference)), value_(std::move(value)) {}

  // For whoever signs or compares with it; nobody else.
  [[nodiscard]] const std::string& reveal() const { return value_; }
  // env:NAME or file:PATH.
  [[nodiscard]] const std::string& reference() const { return reference_; }
  [[nodiscard]] bool is_empty() const { return value_.empty(); }

  friend bool operator==(const Secret&, const Secret&) = default;

 private:
  std::string reference_;
  std::string value_;
};

inline std::string to_string(const Secret& /*secret*/) { return "***"; }

inline constexpr std::size_t kSecretBytesMax = std::size_t{64} * 1024;

bool is_reference(std::string_view text);
// The error names the variable or file that is missing, and never what was found.
Result<Secret> resolve(const std::string& reference, const Environment& environment);

}  // namespace recourse::app

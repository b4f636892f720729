// Enumerators and what people call them. An enum that is stored, sent or logged has `to_string` and
// an array of all its values; this turns a name back into the value.
#pragma once

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>
#include <cstddef>
#include <optional>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/text.h"

namespace recourse {

template <class Enum, std::size_t N>
constexpr std::optional<Enum> find_named(const std::array<Enum, N>& all, std::string_view name) {
  for (const Enum value : all) {
    if (to_string(value) == name) return value;
  }
  return std::nullopt;
}

// The error lists the names that would do.
template <class Enum, std::size_t N>
Result<Enum> parse_named(std::string_view field, const std::array<Enum, N>& all,
                         std::string_view name) {
  if (const std::optional<Enum> value = find_named(all, name)) return *value;
  std::vector<std::string_view> names;
  for (const Enum value : all) names.push_back(to_string(value));
  return fail(ErrorCode::kInvalid, fmt::format("{} must be one of {}, not {}", field,
                                               fmt::join(names, ", "), shown(name)));
}

}  // namespace recourse

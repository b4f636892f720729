// A value with a meaning of its own: ids, keys and counters of different kinds never mix.
#pragma once

#include <compare>
#include <cstddef>
#include <functional>
#include <utility>

namespace recourse {

template <class Tag, class Rep>
struct Strong {
  Rep value{};

  constexpr Strong() = default;
  constexpr explicit Strong(Rep v) : value(std::move(v)) {}

  friend constexpr auto operator<=>(const Strong&, const Strong&) = default;
};

}  // namespace recourse

template <class Tag, class Rep>
struct std::hash<recourse::Strong<Tag, Rep>> {
  std::size_t operator()(const recourse::Strong<Tag, Rep>& strong) const {
    return std::hash<Rep>{}(strong.value);
  }
};

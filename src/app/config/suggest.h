// "Did you mean ...?"
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace recourse::app {

// Letters to add, leave out, change or swap with their neighbour to make one of the other.
std::size_t edit_distance(std::string_view a, std::string_view b);

// The nearest of them, where it is near enough for a slip of the hand.
std::optional<std::string> nearest(std::string_view word, const std::vector<std::string>& known);

}  // namespace recourse::app

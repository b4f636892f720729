// Text as a terminal shows it: how many cells wide, cut to a width, and without what a terminal
// would obey. Payloads and errors come from anywhere; none of them shall move the cursor or set a
// title.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace recourse::cli {

// Cells. Letters of East Asia and pictures take two, marks that sit on others none. What a terminal
// really does with the newest pictures differs from one to the next; this is a good guess.
std::size_t width_of(std::string_view text);

// Whole characters in at most so many cells; what was cut off is an ellipsis.
std::string cut_to(std::string_view text, std::size_t width);

// One line of valid UTF-8: line ends and tabs become spaces, other control characters U+FFFD.
std::string printable(std::string_view text);

// 1,234,567
std::string grouped(std::size_t number);

}  // namespace recourse::cli

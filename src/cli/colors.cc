#include "cli/colors.h"

#include <fmt/format.h>

namespace recourse::cli {

bool wants_color(const ColorWishes& wishes) {
  const bool refused = wishes.refused || (wishes.no_color && !wishes.no_color->empty());
  const bool dumb = wishes.term && *wishes.term == "dumb";
  return wishes.is_terminal && !refused && !dumb;
}

std::string Colors::in(std::string_view code, std::string_view text) const {
  if (!on_ || text.empty()) return std::string(text);
  return fmt::format("\x1b[{}m{}\x1b[0m", code, text);
}

}  // namespace recourse::cli

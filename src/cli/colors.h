// Colour only where somebody sees it and nobody minds.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace recourse::cli {

struct ColorWishes {
  // --no-color
  bool refused = false;
  // The variables NO_COLOR (no-color.org: any value but an empty one) and TERM.
  std::optional<std::string> no_color = std::nullopt;
  std::optional<std::string> term = std::nullopt;
  // Of the stream that is written to.
  bool is_terminal = false;
};

bool wants_color(const ColorWishes& wishes);

// Text in colour, or as it was.
class Colors {
 public:
  explicit Colors(bool on) : on_(on) {}

  [[nodiscard]] std::string bold(std::string_view text) const { return in("1", text); }
  [[nodiscard]] std::string dim(std::string_view text) const { return in("2", text); }
  [[nodiscard]] std::string red(std::string_view text) const { return in("31", text); }
  [[nodiscard]] std::string green(std::string_view text) const { return in("32", text); }
  [[nodiscard]] std::string yellow(std::string_view text) const { return in("33", text); }
  [[nodiscard]] std::string cyan(std::string_view text) const { return in("36", text); }

  [[nodiscard]] bool on() const { return on_; }

 private:
  [[nodiscard]] std::string in(std::string_view code, std::string_view text) const;

  bool on_;
};

}  // namespace recourse::cli

// The whole window for one command: a picture that is drawn over itself, keys without Enter.
// Whatever ends the program, Ctrl-C and SIGTERM included, leaves the terminal as it was; Ctrl-Z
// does so too, and the picture is back with the program. Signals that whoever started it ignores
// (`nohup`) stay ignored.
//
// Thread safety: none. At most one at a time.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "base/time.h"
#include "cli/terminal.h"

namespace recourse::cli {

struct Window {
  std::size_t columns = 80;
  std::size_t rows = 24;

  friend bool operator==(const Window&, const Window&) = default;
};

// The text with `last` below it, cut to the window: nothing wraps and nothing scrolls. Of a text
// that is too long the end is left out, and `last` says how many lines that were. Colours stay.
std::string fit_picture(std::string_view text, std::string_view last, const Window& window);

// What Ctrl-D types.
inline constexpr char kEndOfInput = '\x04';

class Screen {
 public:
  explicit Screen(Terminal& terminal);
  ~Screen();
  Screen(const Screen&) = delete;
  Screen& operator=(const Screen&) = delete;

  void draw(std::string_view text, std::string_view last);
  // Until a key is pressed, the window has changed, or the time is over. The key, where there was
  // one, or kEndOfInput where nobody types any more.
  std::optional<char> wait(Duration time);

 private:
  [[nodiscard]] Window window() const;

  Terminal& terminal_;
  Window drawn_{.columns = 0, .rows = 0};
};

}  // namespace recourse::cli

#include "cli/terminal.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <iostream>
#include <thread>
#include <utility>

#include "base/clock.h"

namespace recourse::cli {
namespace {

winsize window() {
  winsize size{};
  for (const int stream : {STDOUT_FILENO, STDERR_FILENO}) {
    if (ioctl(stream, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 && size.ws_row > 0) return size;
  }
  return {.ws_row = 24, .ws_col = 80, .ws_xpixel = 0, .ws_ypixel = 0};
}

}  // namespace

std::optional<std::string> Terminal::variable(const std::string& name) const {
  const auto found = environment.find(name);
  if (found == environment.end()) return std::nullopt;
  return found->second;
}

std::optional<std::size_t> Terminal::out_width() const {
  if (!out_is_terminal) return std::nullopt;
  return width();
}

std::optional<std::size_t> Terminal::err_width() const {
  if (!err_is_terminal) return std::nullopt;
  return width();
}

Colors Terminal::colors(bool refused) const {
  return Colors(wants_color({.refused = refused,
                             .no_color = variable("NO_COLOR"),
                             .term = variable("TERM"),
                             .is_terminal = out_is_terminal}));
}

Terminal process_terminal(std::map<std::string, std::string> environment) {
  return {.in = std::cin,
          .out = std::cout,
          .err = std::cerr,
          .in_is_terminal = isatty(STDIN_FILENO) == 1,
          .out_is_terminal = isatty(STDOUT_FILENO) == 1,
          .err_is_terminal = isatty(STDERR_FILENO) == 1,
          .width = [] { return std::size_t{window().ws_col}; },
          .height = [] { return std::size_t{window().ws_row}; },
          .environment = std::move(environment),
          .now = [] { return SystemClock().now(); },
          .sleep = [](Duration time) { std::this_thread::sleep_for(time); }};
}

}  // namespace recourse::cli

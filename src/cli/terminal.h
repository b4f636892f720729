// Who is in front of the program: streams, whether somebody sees them, and the environment. A
// value, so that commands are tested without a terminal.
#pragma once

#include <cstddef>
#include <functional>
#include <istream>
#include <map>
#include <optional>
#include <ostream>
#include <string>

#include "base/time.h"
#include "cli/colors.h"

namespace recourse::cli {

struct Terminal {
  // Data goes to `out`, all that is said about it to `err`.
  std::istream& in;
  std::ostream& out;
  std::ostream& err;
  bool in_is_terminal = false;
  bool out_is_terminal = false;
  bool err_is_terminal = false;
  // Cells of a line, and lines. Asked each time, because windows change.
  std::function<std::size_t()> width = [] { return std::size_t{80}; };
  std::function<std::size_t()> height = [] { return std::size_t{24}; };
  std::map<std::string, std::string> environment = {};
  std::function<TimePoint()> now = {};
  std::function<void(Duration)> sleep = {};

  [[nodiscard]] std::optional<std::string> variable(const std::string& name) const;
  // Empty where nobody sees it, and nothing has to be cut.
  [[nodiscard]] std::optional<std::size_t> out_width() const;
  [[nodiscard]] std::optional<std::size_t> err_width() const;
  // For `out`.
  [[nodiscard]] Colors colors(bool refused) const;
};

// That of this process.
Terminal process_terminal(std::map<std::string, std::string> environment);

}  // namespace recourse::cli

// A progress bar for whoever sits in front of a terminal: on standard error, so that the data on
// standard output stays clean; only for what takes longer than a second; a few times a second.
//
//   Retrying  [########            ]  40%  400 of 1,000  about 12s left
#pragma once

#include <cstddef>
#include <optional>
#include <ostream>
#include <string>
#include <string_view>

#include "base/time.h"

namespace recourse::cli {

struct ProgressState {
  std::string_view label;
  std::size_t done = 0;
  // Nothing where nobody knows: then there is a count and no bar.
  std::optional<std::size_t> total = std::nullopt;
  Duration elapsed{};
};

// In at most so many cells.
std::string progress_line(const ProgressState& state, std::size_t width);

// Thread safety: none.
class Progress {
 public:
  // `width` is the terminal's; empty: no terminal, and nothing is ever written. The stream must
  // outlive it.
  Progress(std::ostream& out, std::optional<std::size_t> width, std::string label,
           std::optional<std::size_t> total, TimePoint start);
  // Nobody is left with half a bar.
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  void update(std::size_t done, TimePoint now);
  // Takes the bar away, for what is to be written next. Repeating is harmless.
  void clear();

 private:
  static constexpr Duration kFirstAfter = std::chrono::seconds(1);
  static constexpr Duration kEvery = std::chrono::milliseconds(100);

  std::ostream& out_;
  const std::optional<std::size_t> width_;
  const std::string label_;
  const std::optional<std::size_t> total_;
  const TimePoint start_;
  TimePoint next_;
  bool drawn_ = false;
};

}  // namespace recourse::cli

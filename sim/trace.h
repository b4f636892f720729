// What happened, as short lines: a hash of all of them, which tells whether two runs were the same,
// and the last few hundred as text for whoever looks for the cause of a violation.
//
// Thread safety: none; each world has its own.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/time.h"
#include "task/ids.h"

namespace recourse::sim {

class Trace {
 public:
  // `what` must live as long as the trace: a literal. A node of -1 is nobody in particular.
  void add(TimePoint at, std::string_view what, int node, const task::TaskId& task = {},
           std::int64_t first = 0, std::int64_t second = 0);

  [[nodiscard]] std::uint64_t hash() const { return hash_; }
  // The newest `lines`; those about `task` come first, as far back as they are kept.
  [[nodiscard]] std::string tail(TimePoint start, const task::TaskId& task,
                                 std::size_t lines) const;

 private:
  struct Line {
    TimePoint at;
    std::string_view what;
    int node = 0;
    task::TaskId task;
    std::int64_t first = 0;
    std::int64_t second = 0;
  };
  static constexpr std::size_t kKept = 1 << 14;
  static std::string text(const Line& line, TimePoint start);
  void mix(std::uint64_t value) { hash_ = (hash_ ^ value) * 0x0000'0100'0000'01B3; }

  std::uint64_t hash_ = 0xCBF2'9CE4'8422'2325;
  std::uint64_t count_ = 0;
  std::array<Line, kKept> lines_;
};

}  // namespace recourse::sim

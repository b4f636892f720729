#include "sim/trace.h"

#include <fmt/format.h>

#include <algorithm>

namespace recourse::sim {

void Trace::add(TimePoint at, std::string_view what, int node, const task::TaskId& task,
                std::int64_t first, std::int64_t second) {
  lines_[count_++ % kKept] = {
      .at = at, .what = what, .node = node, .task = task, .first = first, .second = second};
  mix(static_cast<std::uint64_t>(at.time_since_epoch().count()));
  for (const char letter : what) mix(static_cast<unsigned char>(letter));
  mix(static_cast<std::uint64_t>(node));
  for (const std::uint8_t byte : task.value.bytes) mix(byte);
  mix(static_cast<std::uint64_t>(first));
  mix(static_cast<std::uint64_t>(second));
}

std::string Trace::text(const Line& line, TimePoint start) {
  const double seconds = std::chrono::duration<double>(line.at - start).count();
  std::string text = fmt::format("  {:12.6f}  {:<24}", seconds, line.what);
  if (line.node >= 0) text += fmt::format(" node {}", line.node);
  if (line.task != task::TaskId()) text += " " + task::to_string(line.task);
  if (line.first != 0 || line.second != 0) text += fmt::format(" {} {}", line.first, line.second);
  return text + "\n";
}

std::string Trace::tail(TimePoint start, const task::TaskId& task, std::size_t lines) const {
  const std::uint64_t oldest = count_ - std::min<std::uint64_t>(count_, kKept);
  std::string tail;
  if (task != task::TaskId()) {
    tail += "  -- this task --\n";
    for (std::uint64_t i = oldest; i < count_; ++i) {
      if (lines_[i % kKept].task == task) tail += text(lines_[i % kKept], start);
    }
    tail += "  -- everything, at the end --\n";
  }
  const std::uint64_t from = std::max(oldest, count_ - std::min<std::uint64_t>(count_, lines));
  for (std::uint64_t i = from; i < count_; ++i) tail += text(lines_[i % kKept], start);
  return tail;
}

}  // namespace recourse::sim

#include "base/log.h"

#include <fmt/format.h>

namespace recourse {

std::string to_line(LogLevel level, std::string_view event, std::span<const LogField> fields) {
  std::string line = fmt::format("{} {}", to_string(level), event);
  for (const LogField& field : fields) line += fmt::format(" {}={}", field.key, field.value);
  return line;
}

void MemoryLog::write(LogLevel level, std::string_view event, std::span<const LogField> fields) {
  std::string line = to_line(level, event, fields);
  MutexLock lock(mutex_);
  if (capacity_ == 0) return;
  if (lines_.size() == capacity_) lines_.erase(lines_.begin());
  lines_.push_back(std::move(line));
}

std::vector<std::string> MemoryLog::lines() const {
  MutexLock lock(mutex_);
  return lines_;
}

}  // namespace recourse

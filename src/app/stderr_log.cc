#include "app/stderr_log.h"

#include <unistd.h>

#include <boost/json.hpp>
#include <string>

#include "base/rfc3339.h"

namespace recourse::app {
namespace {

std::string json_line(TimePoint at, LogLevel level, std::string_view event,
                      std::span<const LogField> fields) {
  boost::json::object line{
      {"at", format_rfc3339(at)}, {"level", to_string(level)}, {"event", event}};
  // What a line begins with stays its own.
  for (const LogField& field : fields) line.emplace(field.key, field.value);
  return boost::json::serialize(line) + "\n";
}

std::string text_line(TimePoint at, LogLevel level, std::string_view event,
                      std::span<const LogField> fields) {
  // The hour is what a person looks for; the day stands in the JSON form.
  const TimePoint second = std::chrono::floor<std::chrono::seconds>(at);
  return format_rfc3339(second).substr(11, 8) + " " + to_line(level, event, fields) + "\n";
}

}  // namespace

void StderrLog::write(LogLevel level, std::string_view event, std::span<const LogField> fields) {
  if (level < level_) return;
  const TimePoint now = clock_.now();
  const std::string line =
      as_json_ ? json_line(now, level, event, fields) : text_line(now, level, event, fields);
  MutexLock lock(mutex_);
  // A log that cannot be written must not stop the work.
  std::size_t written = 0;
  while (written < line.size()) {
    const ssize_t n = ::write(STDERR_FILENO, line.data() + written, line.size() - written);
    if (n <= 0) return;
    written += static_cast<std::size_t>(n);
  }
}

}  // namespace recourse::app

// Logs are events with fields, written where the decision is known, to a sink that was passed in.
#pragma once

#include <array>
#include <cstdint>
#include <cstdlib>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/mutex.h"

namespace recourse {

enum class LogLevel : std::uint8_t { kDebug, kInfo, kWarning, kError };

inline constexpr std::array kAllLogLevels{LogLevel::kDebug, LogLevel::kInfo, LogLevel::kWarning,
                                          LogLevel::kError};

constexpr std::string_view to_string(LogLevel level) {
  switch (level) {
    case LogLevel::kDebug: return "debug";
    case LogLevel::kInfo: return "info";
    case LogLevel::kWarning: return "warning";
    case LogLevel::kError: return "error";
  }
  std::abort();
}

struct LogField {
  std::string_view key;
  std::string value;
};

// Safe to call from any thread.
class Log {
 public:
  virtual ~Log() = default;

  // `event` is a fixed word to search for; everything variable is a field. Never a payload, never a
  // secret.
  virtual void write(LogLevel level, std::string_view event, std::span<const LogField> fields) = 0;

  void debug(std::string_view event, std::initializer_list<LogField> fields = {}) {
    write(LogLevel::kDebug, event, fields);
  }
  void info(std::string_view event, std::initializer_list<LogField> fields = {}) {
    write(LogLevel::kInfo, event, fields);
  }
  void warning(std::string_view event, std::initializer_list<LogField> fields = {}) {
    write(LogLevel::kWarning, event, fields);
  }
  void error(std::string_view event, std::initializer_list<LogField> fields = {}) {
    write(LogLevel::kError, event, fields);
  }
};

// `level event key=value ...`
std::string to_line(LogLevel level, std::string_view event, std::span<const LogField> fields);

// For callers who want none.
class NullLog final : public Log {
 public:
  void write(LogLevel, std::string_view, std::span<const LogField>) override {}
};

// Keeps the last lines for tests and for a page that shows them.
class MemoryLog final : public Log {
 public:
  explicit MemoryLog(std::size_t capacity = 1'000) : capacity_(capacity) {}

  void write(LogLevel level, std::string_view event, std::span<const LogField> fields) override;
  [[nodiscard]] std::vector<std::string> lines() const;

 private:
  const std::size_t capacity_;
  mutable Mutex mutex_;
  std::vector<std::string> lines_ GUARDED_BY(mutex_);
};

}  // namespace recourse

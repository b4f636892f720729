// The program's log, on standard error: text for people, a JSON object per line for machines.
#pragma once

#include <atomic>

#include "base/clock.h"
#include "base/log.h"
#include "base/mutex.h"

namespace recourse::app {

// Safe to use from any thread; a line is never torn.
class StderrLog final : public Log {
 public:
  // The clock must outlive it.
  StderrLog(const Clock& clock, LogLevel level, bool as_json)
      : clock_(clock), level_(level), as_json_(as_json) {}

  void write(LogLevel level, std::string_view event, std::span<const LogField> fields) override;
  void set_level(LogLevel level) { level_ = level; }

 private:
  const Clock& clock_;
  std::atomic<LogLevel> level_;
  const bool as_json_;
  Mutex mutex_;
};

}  // namespace recourse::app

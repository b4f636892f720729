#include "degrade/log_lines.h"

#include <array>
#include <utility>

namespace recourse::degrade {

void log_failure(Log& log, task::TaskId id, const Failure& failure, bool was_tried, Where where) {
  const std::array<LogField, 6> fields{{{"task", task::to_string(id)},
                                        {"kind", failure.kind.value},
                                        {"member", failure.member},
                                        {"related_id", failure.related_id},
                                        {"recorded_in", where == Where::kStore ? "store" : "spool"},
                                        {"error", failure.reason}}};
  // While a breaker is open there are as many as there are callers: the opening itself is the news.
  log.write(was_tried ? LogLevel::kWarning : LogLevel::kInfo, "degrade_failed", fields);
}

void log_moved(Log& log, const engine::Moved& moved) {
  const auto write = [&](LogLevel level, std::string_view event) {
    const std::array<LogField, 6> fields{{{"task", task::to_string(moved.task)},
                                          {"kind", moved.kind.value},
                                          {"retries", std::to_string(moved.retries)},
                                          {"max_retries", std::to_string(moved.max_retries)},
                                          {"code", moved.error ? moved.error->code : ""},
                                          {"error", moved.error ? moved.error->message : ""}}};
    log.write(level, event, fields);
  };
  if (task::needs_person(moved.to)) return write(LogLevel::kError, "degrade_gave_up");
  // Put off, released, or moved by a person: no retry has ended.
  if (!moved.took) return;
  if (moved.to == task::State::kSucceeded) return write(LogLevel::kInfo, "degrade_retry_succeeded");
  if (moved.error) write(LogLevel::kWarning, "degrade_retry_failed");
}

engine::Handler announcing_retries(engine::Handler handler, Log& log) {
  return [handler = std::move(handler), &log](const std::shared_ptr<engine::AttemptRun>& run) {
    log.info("degrade_retry_started", {{"task", task::to_string(run->task().id)},
                                       {"kind", run->task().spec.kind.value},
                                       {"retry", std::to_string(run->start().number)}});
    handler(run);
  };
}

}  // namespace recourse::degrade

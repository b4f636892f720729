#include "app/happenings_log.h"

#include <string>

namespace recourse::app {
namespace {

using engine::NodeEvent;

void write(Log& log, const engine::Moved& moved) {
  // What ends badly is news; all else is for who looks closely.
  const bool is_bad = task::needs_person(moved.to);
  if (!moved.error && !is_bad) return;
  const LogLevel level = is_bad ? LogLevel::kWarning : LogLevel::kDebug;
  const LogField fields[] = {{"task", task::to_string(moved.task)},
                             {"kind", moved.kind.value},
                             {"state", std::string(to_string(moved.to))},
                             {"retries", std::to_string(moved.retries)},
                             {"code", moved.error ? moved.error->code : ""},
                             {"error", moved.error ? moved.error->message : ""}};
  log.write(level, is_bad ? "task_ended_badly" : "attempt_failed", fields);
}

void write(Log& log, const engine::BreakerChanged& changed) {
  log.warning("breaker_changed", {{"kind", changed.kind.value},
                                  {"from", std::string(to_string(changed.change.from))},
                                  {"to", std::string(to_string(changed.change.to))}});
}

void write(Log& log, const engine::BatchChanged& changed) {
  log.info("claim_batch_changed", {{"from", std::to_string(changed.change.from)},
                                   {"to", std::to_string(changed.change.to)},
                                   {"reason", changed.change.reason}});
}

LogLevel level_of(NodeEvent event) {
  switch (event) {
    case NodeEvent::kJoined:
    case NodeEvent::kUnfenced:
    case NodeEvent::kAdopted:
    case NodeEvent::kReconciled: return LogLevel::kInfo;
    case NodeEvent::kWriteGivenUp: return LogLevel::kError;
    default: return LogLevel::kWarning;
  }
}

void write(Log& log, const engine::NodeHappened& happened) {
  const LogField fields[] = {{"detail", happened.detail},
                             {"count", std::to_string(happened.count)}};
  log.write(level_of(happened.event), to_string(happened.event), fields);
}

}  // namespace

void log_happening(Log& log, const engine::Happening& happening) {
  std::visit([&](const auto& what) { write(log, what); }, happening);
}

}  // namespace recourse::app

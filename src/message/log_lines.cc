#include "message/log_lines.h"

#include <array>

#include "base/text.h"
#include "message/order_wait.h"
#include "message/status.h"

namespace recourse::message {
namespace {

constexpr std::size_t kErrorInLine = 500;

}  // namespace

void log_consume_failed(Log& log, const Message& message, const std::string& group,
                        const task::Transition& change) {
  const Status status = status_of(change.to);
  const std::array<LogField, 8> fields{
      {{"message", message.id},
       {"source", message.source},
       {"group", group},
       {"topic", message.topic},
       {"task", task::to_string(change.task)},
       {"status", std::string(to_string(status))},
       {"code", change.error ? change.error->code : ""},
       {"error", change.error ? one_line(change.error->message, kErrorInLine) : ""}}};
  log.write(status == Status::kPending ? LogLevel::kError : LogLevel::kWarning,
            "message_consume_failed", fields);
}

void log_not_recorded(Log& log, const Message& message, const std::string& group,
                      const Error& error) {
  log.error("message_not_recorded", {{"message", message.id},
                                     {"source", message.source},
                                     {"group", group},
                                     {"topic", message.topic},
                                     {"error", one_line(error.message, kErrorInLine)}});
}

void log_handled_twice(Log& log, const Message& message, const std::string& group) {
  log.warning("message_handled_twice", {{"message", message.id},
                                        {"source", message.source},
                                        {"group", group},
                                        {"topic", message.topic}});
}

void log_without_id(Log& log, const Message& message, const std::string& group) {
  log.warning("message_without_id",
              {{"source", message.source},
               {"group", group},
               {"topic", message.topic},
               {"why", "its publisher gave no id: messages with equal bodies count as one"}});
}

void log_retry_started(Log& log, const engine::AttemptRun& run, const Envelope& envelope) {
  log.info("message_retry_started", {{"message", envelope.id},
                                     {"group", envelope.group},
                                     {"topic", envelope.topic},
                                     {"task", task::to_string(run.task().id)},
                                     {"retry", std::to_string(run.task().retries)},
                                     {"max_retries", std::to_string(run.task().spec.max_retries)}});
}

void log_moved(Log& log, const engine::Moved& moved) {
  const auto write = [&](LogLevel level, std::string_view event, std::string_view result) {
    const std::array<LogField, 7> fields{
        {{"task", task::to_string(moved.task)},
         {"kind", moved.kind.value},
         {"result", std::string(result)},
         {"retries", std::to_string(moved.retries)},
         {"max_retries", std::to_string(moved.max_retries)},
         {"code", moved.error ? moved.error->code : ""},
         {"error", moved.error ? one_line(moved.error->message, kErrorInLine) : ""}}};
    log.write(level, event, fields);
  };
  // Put off, released, or moved by a person: no retry has ended.
  if (moved.took && moved.to == task::State::kSucceeded) {
    write(LogLevel::kInfo, "message_retry_finished", "succeeded");
  } else if (moved.took && moved.error && moved.error->code != kWaitsForOrder) {
    write(LogLevel::kWarning, "message_retry_finished", "failed");
  }
  if (task::needs_person(moved.to)) write(LogLevel::kError, "message_gave_up", "failed");
}

}  // namespace recourse::message

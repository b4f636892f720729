#include "message/log_lines.h"

#include <memory>
#include <utility>
#include <vector>

#include "base/text.h"
#include "message/envelope.h"
#include "message/replay.h"

namespace recourse::message {
namespace {

using Fields = std::vector<LogField>;

constexpr std::size_t kErrorInLine = 500;

Fields about(const Message& message, const std::string& group) {
  return {{"message", search_text(message.id)},
          {"source", search_text(message.source)},
          {"group", search_text(group)},
          {"topic", search_text(message.topic)}};
}

Fields about(task::TaskId id, const task::TaskSpec& spec) {
  const auto key = [&](std::string_view name) {
    const auto found = spec.search_keys.find(std::string(name));
    return found == spec.search_keys.end() ? std::string() : found->second;
  };
  return {{"message", key(kMessageIdKey)}, {"source", key(kSourceKey)},
          {"group", key(kGroupKey)},       {"topic", key(kTopicKey)},
          {"kind", spec.kind.value},       {"task", task::to_string(id)}};
}

void write(Log& log, LogLevel level, std::string_view event, Fields fields, Fields more) {
  for (LogField& field : more) fields.push_back(std::move(field));
  log.write(level, event, fields);
}

// One that was published again has its earlier runs behind it too, and no attempt yet.
bool is_retry(const task::Task& before) { return before.attempts > 0 || before.retries > 0; }

void log_end(Log& log, LogLevel level, std::string_view event, std::string_view result,
             const engine::Moved& moved) {
  write(log, level, event, about(moved.task, moved.was->spec),
        {{"result", std::string(result)},
         {"retries", std::to_string(moved.retries)},
         {"max_retries", std::to_string(moved.max_retries)},
         {"code", moved.error ? moved.error->code : ""},
         {"error", moved.error ? one_line(moved.error->message, kErrorInLine) : ""}});
}

void log_gave_up(Log& log, const engine::Moved& moved) {
  if (task::needs_person(moved.to)) {
    log_end(log, LogLevel::kError, "message_gave_up", "failed", moved);
  }
}

}  // namespace

void log_consume_failed(Log& log, const engine::Moved& moved) {
  log_end(log, LogLevel::kWarning, "message_consume_failed", "failed", moved);
  log_gave_up(log, moved);
}

void log_not_recorded(Log& log, const Message& message, const std::string& group,
                      const Error& error) {
  write(log, LogLevel::kError, "message_not_recorded", about(message, group),
        {{"error", one_line(error.message, kErrorInLine)}});
}

void log_refused(Log& log, const Message& message, const std::string& group, const Error& error) {
  write(log, LogLevel::kError, "message_refused", about(message, group),
        {{"error", one_line(error.message, kErrorInLine)},
         {"hint",
          "it can never be recorded and stays with the broker: publish it smaller or under a "
          "shorter id, and delete this one there"}});
}

void log_handled_twice(Log& log, const Message& message, const std::string& group) {
  write(log, LogLevel::kWarning, "message_handled_twice", about(message, group), {});
}

void log_without_id(Log& log, const Message& message, const std::string& group) {
  write(log, LogLevel::kWarning, "message_without_id", about(message, group),
        {{"why", "its publisher gave no id: messages with equal bodies count as one"}});
}

void log_replayed(Log& log, const task::Task& task) {
  write(log, LogLevel::kInfo, "message_replayed", about(task.id, task.spec),
        {{"retries", std::to_string(task.retries)}});
}

engine::Handler announcing(engine::Handler handler, Log& log) {
  return [handler = std::move(handler), &log](const std::shared_ptr<engine::AttemptRun>& run) {
    const task::Task& task = run->task();
    if (is_retry(task)) {
      write(log, LogLevel::kInfo, "message_retry_started", about(task.id, task.spec),
            {{"retry", std::to_string(task.retries)},
             {"max_retries", std::to_string(task.spec.max_retries)}});
    }
    handler(run);
  };
}

void log_moved(Log& log, const engine::Moved& moved) {
  if (!moved.was) return;
  // Put off, released, or moved by a person: no run has ended.
  if (moved.took && moved.to == task::State::kSucceeded) {
    if (is_retry(*moved.was)) {
      log_end(log, LogLevel::kInfo, "message_retry_finished", "succeeded", moved);
    }
  } else if (moved.took && moved.error && moved.error->code != kReplayed) {
    log_end(log, LogLevel::kWarning,
            is_retry(*moved.was) ? "message_retry_finished" : "message_consume_failed", "failed",
            moved);
  }
  log_gave_up(log, moved);
}

}  // namespace recourse::message

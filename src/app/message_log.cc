#include "app/message_log.h"

#include <array>
#include <utility>

#include "base/text.h"
#include "message/envelope.h"
#include "message/order_wait.h"

namespace recourse::app {
namespace {

// More runs than a node has at once. The oldest beyond it are told without their message's id: they
// have ended without a word, their outcomes refused.
constexpr std::size_t kRunsMax = 100'000;
constexpr std::size_t kErrorCharacters = 500;
constexpr Duration kLookWithin = std::chrono::seconds(1);

std::string message_id_of(const task::TaskSpec& spec) {
  const auto found = spec.search_keys.find(std::string(message::kMessageIdKey));
  return found == spec.search_keys.end() ? std::string() : found->second;
}

bool has_failed(const engine::Moved& moved) {
  return moved.took && moved.error && moved.error->code != message::kWaitsForOrder &&
         moved.to != task::State::kSucceeded;
}

}  // namespace

void MessageLog::remember(const task::Task& task) {
  MutexLock lock(mutex_);
  if (runs_.size() >= kRunsMax) runs_.erase(runs_.begin());
  runs_.insert_or_assign(task.id,
                         Run{.message_id = message_id_of(task.spec), .is_retry = task.retries > 0});
}

std::optional<MessageLog::Run> MessageLog::recall(task::TaskId task) {
  MutexLock lock(mutex_);
  const auto node = runs_.extract(task);
  if (node.empty()) return std::nullopt;
  return std::move(node.mapped());
}

std::optional<MessageLog::Run> MessageLog::look_up(task::TaskId task) {
  const auto found = reader_.find(task, kLookWithin);
  if (!found) return std::nullopt;
  return Run{.message_id = message_id_of(found->spec), .is_retry = found->attempts > 1};
}

engine::Handler MessageLog::remembering(engine::Handler handler) {
  return [this, handler = std::move(handler)](const std::shared_ptr<engine::AttemptRun>& run) {
    remember(run->task());
    handler(run);
  };
}

engine::Handler MessageLog::announcing(engine::Handler handler) {
  return [this, handler = std::move(handler)](const std::shared_ptr<engine::AttemptRun>& run) {
    const task::Task& task = run->task();
    if (task.retries > 0) {
      log_.info("message_retry_started", {{"message", message_id_of(task.spec)},
                                          {"task", task::to_string(task.id)},
                                          {"kind", task.spec.kind.value},
                                          {"retry", std::to_string(task.retries)},
                                          {"max_retries", std::to_string(task.spec.max_retries)}});
    }
    handler(run);
  };
}

void MessageLog::moved(const engine::Moved& moved) { write(moved, recall(moved.task)); }

void MessageLog::moved_outside(const engine::Moved& moved) {
  std::optional<Run> run = recall(moved.task);
  if (!run && has_failed(moved)) run = look_up(moved.task);
  write(moved, run);
}

void MessageLog::write(const engine::Moved& moved, const std::optional<Run>& run) {
  const auto line = [&](LogLevel level, std::string_view event, std::string_view result) {
    const std::array<LogField, 8> fields{
        {{"message", run ? run->message_id : ""},
         {"task", task::to_string(moved.task)},
         {"kind", moved.kind.value},
         {"result", std::string(result)},
         {"retries", std::to_string(moved.retries)},
         {"max_retries", std::to_string(moved.max_retries)},
         {"code", moved.error ? moved.error->code : ""},
         {"error", moved.error ? one_line(moved.error->message, kErrorCharacters) : ""}}};
    log_.write(level, event, fields);
  };
  const bool failed = has_failed(moved);
  const bool was_retry = run ? run->is_retry : moved.retries > (failed ? 1 : 0);
  // Put off, released, or moved by a person: no run has ended.
  if (moved.took && moved.to == task::State::kSucceeded) {
    if (was_retry) line(LogLevel::kInfo, "message_retry_finished", "succeeded");
  } else if (failed) {
    line(LogLevel::kWarning, was_retry ? "message_retry_finished" : "message_consume_failed",
         "failed");
  }
  if (task::needs_person(moved.to)) line(LogLevel::kError, "message_gave_up", "failed");
}

}  // namespace recourse::app

// One message as people see it, and what they may do with it.
#include <fmt/format.h>

#include <algorithm>

#include "message/records.h"

namespace recourse::message {
namespace {

// One that is scheduled, or under way, is still left: so it is five after the first failure.
int retries_left_of(const task::Task& task) {
  const bool is_retrying = status_of(task.state) == Status::kRetrying;
  const int made = is_retrying && task.retries > 0 ? task.retries - 1 : task.retries;
  return std::max(0, task.spec.max_retries - made);
}

}  // namespace

Result<Record> record_of(const task::Task& task) {
  std::optional<Envelope> envelope = envelope_of(task.spec);
  if (!envelope) {
    return fail(ErrorCode::kNotFound,
                fmt::format("{} is no message: it was submitted as a task of the kind {}",
                            task::to_string(task.id), task.spec.kind.value));
  }
  Record record{.id = task.id};
  record.kind = task.spec.kind;
  record.tenant = task.spec.tenant;
  record.envelope = *std::move(envelope);
  record.body = task.spec.payload;
  record.status = status_of(task.state);
  record.state = task.state;
  if (task.last_error) {
    record.error_code = task.last_error->code;
    record.error = task.last_error->message;
  }
  record.max_retries = task.spec.max_retries;
  record.retries_left = retries_left_of(task);
  record.attempts = task.attempts;
  record.version = task.ticket.fence.value;
  // One that a node has waits there for its time, or it has come.
  if (task.state == task::State::kPending || task.state == task::State::kRunning) {
    record.next_retry_at = task.due_at;
  }
  record.created_at = task.created_at;
  record.updated_at = task.ended_at.value_or(task.created_at);
  record.ended_at = task.ended_at;
  return record;
}

namespace {

Unexpected has_ended(const Record& record, std::string_view but) {
  return fail(ErrorCode::kConflict,
              fmt::format("{} is {} ({}): {}", task::to_string(record.id), to_string(record.status),
                          to_string(record.state), but));
}

bool is_over(const Record& record) {
  return record.status == Status::kProcessed || record.status == Status::kIgnored;
}

}  // namespace

Result<task::Move> move_to_retry(const Record& record) {
  if (is_over(record)) return has_ended(record, "there is nothing left to retry");
  if (record.status == Status::kPending) return task::Move::kReopen;
  return record.state == task::State::kPaused ? task::Move::kResume : task::Move::kRetryNow;
}

Result<task::Move> move_to_processed(const Record& record) {
  if (is_over(record)) return has_ended(record, "it has ended already");
  return task::Move::kResolve;
}

Result<task::Move> move_to_ignored(const Record& record) {
  if (is_over(record)) return has_ended(record, "it has ended already");
  return task::Move::kIgnore;
}

}  // namespace recourse::message

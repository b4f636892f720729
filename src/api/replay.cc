#include "api/replay.h"

#include "api/token_secret.h"
#include "base/text.h"

namespace recourse::api {
namespace {

constexpr std::string_view kReplaySpace = "replay";
constexpr Duration kReplayedFor = std::chrono::hours(24);
constexpr std::size_t kKeyBytesMax = 255;

// Behind the id of a task that was there before.
constexpr std::string_view kTaken = "+";

// The body's hash and the task's id, of fixed lengths.
std::string value_of(const std::string& body, task::TaskId task) {
  return body + task::to_string(task);
}

}  // namespace

Result<ReplayKey> read_replay_key(const Call& call) {
  std::string_view key = call.request.headers.find("Idempotency-Key").value_or("");
  if (key.size() >= 2 && key.front() == '"' && key.back() == '"') {
    key = key.substr(1, key.size() - 2);
  }
  if (key.empty() || key.size() > kKeyBytesMax || !is_plain_text(key)) {
    return fail(ErrorCode::kInvalid,
                "the Idempotency-Key must have 1 to 255 bytes of plain text, in quotes or not");
  }
  const std::string tenant = call.caller.tenant ? "of " + call.caller.tenant->value : "all";
  return ReplayKey{.name = sha256_of(tenant + "\n" + std::string(key)),
                   .body = sha256_of(call.request.body)};
}

Result<Replay> begin_replay(store::Records& records, const ReplayKey& key, task::TaskId task) {
  const store::Record mine{
      .space = std::string(kReplaySpace), .name = key.name, .value = value_of(key.body, task)};
  auto added = records.add(mine, kReplayedFor, kPatience);
  // It may be there by now, with this very task.
  if (!added && added.error().code == ErrorCode::kInDoubt) {
    added = records.add(mine, kReplayedFor, kPatience);
  }
  if (!added) return fail(added.error());
  std::string_view value = added->record.value;
  const bool is_taken = value.ends_with(kTaken);
  if (is_taken) value.remove_suffix(kTaken.size());
  if (!value.starts_with(key.body)) {
    return fail(ErrorCode::kInvalid,
                "this Idempotency-Key was used with another body in the last 24 hours; take a new "
                "key for a new request");
  }
  const auto there = task::parse_task_id("task", value.substr(key.body.size()));
  if (!there) return fail(ErrorCode::kCorrupt, "a record of replays cannot be read");
  const bool is_first = added->added || *there == task;
  return Replay{.is_first = is_first,
                .is_taken = is_taken,
                .task = *there,
                .record = std::move(added->record)};
}

Result<> point_replay_to(store::Records& records, const Replay& replay, task::TaskId task) {
  if (replay.is_taken && replay.task == task) return {};
  store::Record record = replay.record;
  record.value.resize(record.value.rfind(task::to_string(replay.task)));
  record.value += task::to_string(task);
  record.value += kTaken;
  const auto replaced = records.replace(record, kReplayedFor, kPatience);
  // Whoever was faster found the same.
  if (!replaced && replaced.error().code != ErrorCode::kConflict) return fail(replaced.error());
  return {};
}

}  // namespace recourse::api

#include "api/replay.h"

#include "base/text.h"
#include "create/sha256.h"

namespace recourse::api {
namespace {

constexpr Duration kReplayedFor = std::chrono::hours(24);
// A submit that has not been answered by then never will be.
constexpr Duration kAnsweredWithin = std::chrono::seconds(15);
constexpr std::string_view kBusiness = "TASK_CREATE";

// Behind the id of a task that was there before.
constexpr std::string_view kTaken = "+";

}  // namespace

Result<store::CreateAsk> read_replay_key(const Call& call, task::TaskId task) {
  std::string_view key = call.request.headers.find("Idempotency-Key").value_or("");
  if (key.size() >= 2 && key.front() == '"' && key.back() == '"') {
    key = key.substr(1, key.size() - 2);
  }
  if (key.empty() || key.size() > store::kCreateKeyBytesMax || !is_plain_text(key)) {
    return fail(ErrorCode::kInvalid,
                "the Idempotency-Key must have 1 to 255 bytes of plain text, in quotes or not");
  }
  // A tenant's name may be longer than the door's.
  const std::string tenant =
      call.caller.tenant ? create::sha256_hex(call.caller.tenant->value) : "all";
  return store::CreateAsk{
      .key = {.tenant = tenant, .business = std::string(kBusiness), .key = std::string(key)},
      .resource = "tsk",
      .hash = create::sha256_hex(call.request.body),
      .id = task.value,
      .ttl = kReplayedFor,
      .lock_ttl = kAnsweredWithin};
}

std::string to_value(const Replayed& replayed) {
  return task::to_string(replayed.task) + std::string(replayed.is_taken ? kTaken : "");
}

Result<Replayed> read_replayed(std::string_view value) {
  const bool is_taken = value.ends_with(kTaken);
  if (is_taken) value.remove_suffix(kTaken.size());
  const auto task = task::parse_task_id("task", value);
  if (!task) return fail(ErrorCode::kCorrupt, "what is kept of a replay cannot be read");
  return Replayed{.task = *task, .is_taken = is_taken};
}

}  // namespace recourse::api

// A task as it is stored: what the submitter asked for, and where it stands.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "base/time.h"
#include "task/ids.h"
#include "task/ownership.h"
#include "task/state.h"

namespace recourse::task {

inline constexpr std::size_t kPayloadBytesMax = 256 * 1024;
inline constexpr std::size_t kKindBytesMax = 100;
inline constexpr std::size_t kKeyBytesMax = 255;
inline constexpr std::size_t kHeaderCountMax = 32;
inline constexpr std::size_t kHeaderBytesMax = 8 * 1024;
inline constexpr std::size_t kSearchKeyCountMax = 8;
inline constexpr int kPriorityMax = 10;
inline constexpr int kRetriesMax = 1'000;

// What a submitter asks for. Fixed from then on, but for the payload, which a person may edit.
struct TaskSpec {
  Tenant tenant;
  Kind kind;
  ShardKey shard_key;
  UniqueKey unique_key;
  // 0 to 10, larger first.
  int priority = 5;
  // Raw bytes: never re-serialised, so that big numbers stay as they came.
  std::string payload;
  std::map<std::string, std::string> headers;
  // W3C traceparent, sent on with every attempt.
  std::string trace_parent;
  // A few business keys (member, order) by which people find the task.
  std::map<std::string, std::string> search_keys;

  // Attempts = 1 + retries.
  int max_retries = 5;
  Duration timeout = std::chrono::seconds(10);
  // No attempt starts after it.
  std::optional<TimePoint> deadline;
  // A name in the backoff registry; empty means the kind's own.
  std::string backoff;

  friend bool operator==(const TaskSpec&, const TaskSpec&) = default;
};

// At the door of every way in. Names each bad field with what is allowed.
Result<> validate(const TaskSpec& spec);
// W3C trace context: version, trace id, parent id and flags in lower-case hex; or empty.
bool is_trace_parent(std::string_view text);
// Of what its submitter may make as large as it likes.
std::size_t size_of(const TaskSpec& spec);

// Why the last attempt, or the whole task, ended badly.
struct Reason {
  std::string code;     // a fixed word: TIMEOUT, NO_HANDLER, SERDE_ERROR, HTTP_503, ...
  std::string message;  // for people

  friend bool operator==(const Reason&, const Reason&) = default;
};

enum class StartMark : std::uint8_t {
  kNone,      // no owner was ever lost: the start goes unrecorded, which saves a write
  kAsked,     // one was: whoever runs it next writes that down first
  kRecorded,  // the owner has begun to run it
};

struct Task {
  TaskId id;
  TaskSpec spec;
  State state = State::kPending;
  TimePoint created_at;
  // When the next attempt may start.
  TimePoint due_at;
  // Retries used in this episode.
  int retries = 0;
  // Handler starts over all episodes.
  int attempts = 0;
  // Counts up each time a person reopens it.
  int episode = 1;
  std::optional<TimePoint> first_started_at;
  // From the first takeover on, a start is written down before the handler runs...
  StartMark start = StartMark::kNone;
  // ...so that owners lost after one can be counted: a task that kills its process is stopped.
  int deaths = 0;

  // The lease id outlives the ownership: see ownership.h.
  Ticket ticket;
  std::optional<Owner> owner;
  // Only for work leased to a worker outside; a node's leases end with its incarnation.
  std::optional<TimePoint> lease_end;

  // A person's wish that the owner has not carried out yet.
  std::optional<Move> requested;
  std::optional<Reason> last_error;
  // When it was finished, or came before a person.
  std::optional<TimePoint> ended_at;
  // Who held it when it was finished.
  std::optional<Owner> ended_by;

  friend bool operator==(const Task&, const Task&) = default;
};

// Under which the books are kept: counts by kind, at most one unfinished task per unique key.
struct Account {
  Tenant tenant;
  Kind kind;
  UniqueKey unique_key;

  friend auto operator<=>(const Account&, const Account&) = default;
};

inline Account account_of(const TaskSpec& spec) {
  return {.tenant = spec.tenant, .kind = spec.kind, .unique_key = spec.unique_key};
}

// When somebody may take it: never while a live node owns it or a person has it. The stores keep
// this in an indexed column.
constexpr TimePoint available_at(const Task& task) {
  if (task.state == State::kPending) return task.due_at;
  if (task.state == State::kRunning && task.lease_end) return *task.lease_end;
  return kNever;
}

}  // namespace recourse::task

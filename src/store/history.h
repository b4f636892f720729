// What is remembered of a task's life beside its row. An uneventful life is told by its archive row
// alone; a failed attempt leaves an attempt row; people, takeovers, dead letters, refused writes
// and the life of nodes leave audit rows; a handler leaves the notes it writes.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/time.h"
#include "task/ids.h"
#include "task/record.h"
#include "task/state.h"

namespace recourse::store {

struct Attempt {
  task::TaskId task;
  // 1, 2, 3, ... over all episodes.
  int number = 1;
  TimePoint started_at;
  TimePoint ended_at;
  // Who ran it, as task::to_string(Owner) spells it.
  std::string owner;
  task::Fence fence;
  // What was decided.
  task::Move decision = task::Move::kRetry;
  std::optional<task::Reason> error;
  // When the next one may start.
  std::optional<TimePoint> next_due;

  friend bool operator==(const Attempt&, const Attempt&) = default;
};

struct AuditEntry {
  TimePoint at;
  // Empty for what concerns no single task.
  std::optional<task::TaskId> task;
  // A person's name, or an owner as task::to_string spells it.
  std::string actor;
  // A fixed word: cancel, cancel_requested, adopt, give_up, write_refused, node_dead, purge, ...
  std::string action;
  std::string detail;
  task::Fence fence;

  friend bool operator==(const AuditEntry&, const AuditEntry&) = default;
};

// What a handler said while it ran: for people, never the truth.
struct Note {
  task::TaskId task;
  // Under which it was said, and the how manyth it was: by these it is recognised when it comes
  // again, and in this order it is shown.
  task::Fence fence;
  int number = 1;
  // Of which attempt: 1, 2, 3, ...
  int attempt = 1;
  TimePoint at;
  // How far it has come, in millionths of the whole; empty where it only said something.
  std::optional<int> progress;
  std::string text;

  friend bool operator==(const Note&, const Note&) = default;
};

}  // namespace recourse::store

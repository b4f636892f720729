// A change of a task as a value: decided by the rules, applied by a store in one place, and only
// while the row still carries the ticket it was decided under.
#pragma once

#include <optional>

#include "base/result.h"
#include "base/time.h"
#include "task/ids.h"
#include "task/ownership.h"
#include "task/record.h"
#include "task/state.h"

namespace recourse::task {

struct Transition {
  TaskId task;
  Ticket ticket;  // as the decider saw it
  Move move;
  State to;      // what the table says of `move`
  TimePoint at;  // when it was decided

  // As they are to stand in the row afterwards.
  TimePoint due_at;
  int retries = 0;
  int deaths = 0;
  std::optional<Reason> error;
  std::optional<TimePoint> deadline;

  friend bool operator==(const Transition&, const Transition&) = default;
};

// The move as the table has it, everything else left as it is, but for what belongs to the move
// itself: an adoption counts the owner's death if a start was recorded, and retry_now is due at
// once. The move must be in the table: machines do not try what is forbidden (people do, and get
// try_move's answer).
Transition plan(const Task& task, Move move, TimePoint now);

// A person's second chance for what is dead or failed: due at once, retries and deaths start over.
// Refused where the deadline has passed and no new one is given, because the task would only die
// again.
Result<Transition> plan_reopen(const Task& task, TimePoint now,
                               std::optional<TimePoint> new_deadline);

// The row after the transition: the fence is one higher, and who does not run it does not own it.
Task apply(Task task, const Transition& transition);

// Who takes a task, and until when where it is a worker with a lease of its own.
struct Claim {
  Owner owner;
  LeaseId lease;
  std::optional<TimePoint> lease_end;
};

// The row after it was claimed or taken over. It may be due again to the same node: after a
// restart, its former self is a stranger, so the fence rises all the same.
Task apply(Task task, const Claim& claim);

}  // namespace recourse::task

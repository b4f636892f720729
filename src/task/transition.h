// A change of a task as a value: decided by the rules, applied by a store in one place, and only
// while the row still carries the ticket it was decided under.
#pragma once

#include <optional>
#include <string_view>

#include "base/result.h"
#include "base/time.h"
#include "task/ids.h"
#include "task/ownership.h"
#include "task/record.h"
#include "task/state.h"

namespace recourse::task {

// Who goes on with a task that was lent, and for how long without a renewal, from when the store
// writes it.
struct Lending {
  WorkerName worker;
  Duration lease_for;

  friend bool operator==(const Lending&, const Lending&) = default;
};

struct Transition {
  TaskId task;
  // Fixed at submission; the store books the change under it without reading the row.
  Account account;
  Ticket ticket;  // as the decider saw it
  State from;
  Move move;
  State to;      // what the table says of `move`
  TimePoint at;  // when it was decided

  // As they are to stand in the row afterwards.
  TimePoint due_at;
  int retries = 0;
  int attempts = 0;
  int episode = 1;
  std::optional<TimePoint> first_started_at;
  int deaths = 0;
  std::optional<Reason> error;
  std::optional<TimePoint> deadline;
  // Written by somebody else than the owner: the lease id goes, so that the owner does not take it
  // for a write of its own.
  bool ends_lease = false;
  // Of kLend, and of it only.
  std::optional<Lending> lending = std::nullopt;

  friend bool operator==(const Transition&, const Transition&) = default;
};

// The move as the table has it, everything else left as it is, but for what belongs to the move
// itself: an adoption counts the owner's death if a start was recorded, and retry_now is due at
// once. The move must be in the table: machines do not try what is forbidden (people do, and get
// try_move's answer).
Transition plan(const Task& task, Move move, TimePoint now);

// The ticket stays as it is, so that whoever was given it can report under it. No attempt is
// counted yet: the report, or the end of the lease, tells how it went.
Transition plan_lending(const Task& task, Lending lending, TimePoint now);

// A person's second chance for what is dead or failed: due at once, retries and deaths start over.
// Refused where the deadline has passed and no new one is given, because the task would only die
// again.
Result<Transition> plan_reopen(const Task& task, TimePoint now,
                               std::optional<TimePoint> new_deadline);

// As it stands in the row afterwards.
constexpr Fence fence_after(const Transition& transition) {
  return transition.lending ? transition.ticket.fence : next(transition.ticket.fence);
}

// The row after the transition: the fence is one higher (but for kLend, which repeated says the
// same once more), and who does not run it does not own it. A request is dealt with by then
// (carry_out).
Task apply(Task task, const Transition& transition);

// The common case of a write: the row is as the decider saw it, and nobody has asked for anything.
// The stores say the same in the WHERE of their hot statements.
bool applies_as_it_is(const Task& row, const Transition& transition);

// Whoever next writes a row carries out what a person asked of it: the outcome as it must be
// written where the row says `requested`. What really happened stands: a success stays one, a task
// that is out of retries is not paused, because resuming it would run it once too often, and what
// is lent goes on, because whoever has it will report: the request waits for that.
Transition carry_out(Transition outcome, std::optional<Move> requested);

// Three owners lost after a recorded start: the task is likely to have killed them.
inline constexpr int kDeathsMax = 3;
inline constexpr std::string_view kOwnersDied = "OWNERS_DIED";

// The row after its owner was declared dead: free again, or what a person asked for in the
// meantime, or dead itself after kDeathsMax deaths. Its lease id is gone, so that the dead owner
// cannot take this for a write of its own.
Transition plan_adoption(const Task& task, TimePoint now);

// What happens instead of running a task that was just taken over from a worker: what a person had
// asked that worker for, or its end after kDeathsMax deaths. Empty: run it.
std::optional<Transition> plan_instead_of_run(const Task& taken, TimePoint now);

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

#include "task/transition.h"

#include <utility>

#include "base/invariant.h"

namespace recourse::task {
namespace {

constexpr bool is_claim(Move move) { return move == Move::kClaim || move == Move::kTakeOver; }

}  // namespace

Transition plan(const Task& task, Move move, TimePoint now) {
  const std::optional<State> to = next_state(task.state, move);
  invariant(to.has_value(), "the engine plans only moves of the state table");
  const bool died = move == Move::kAdopt && task.start_recorded;
  return {.task = task.id,
          .ticket = task.ticket,
          .move = move,
          .to = *to,
          .at = now,
          .due_at = move == Move::kRetryNow ? now : task.due_at,
          .retries = task.retries,
          .deaths = task.deaths + (died ? 1 : 0),
          .error = task.last_error,
          .deadline = task.spec.deadline};
}

Result<Transition> plan_reopen(const Task& task, TimePoint now,
                               std::optional<TimePoint> new_deadline) {
  if (const Result<State> to = try_move(task.state, Move::kReopen); !to) return fail(to.error());
  const std::optional<TimePoint> deadline = new_deadline ? new_deadline : task.spec.deadline;
  if (deadline && *deadline <= now) {
    return fail(ErrorCode::kInvalid, new_deadline
                                         ? "the new deadline must be in the future"
                                         : "its deadline has passed: a retry needs a new one");
  }
  Transition transition = plan(task, Move::kReopen, now);
  transition.due_at = now;
  transition.retries = 0;
  transition.deaths = 0;
  transition.deadline = deadline;
  return transition;
}

Task apply(Task task, const Transition& transition) {
  invariant(task.id == transition.task && task.ticket == transition.ticket,
            "a transition is applied to the row it was decided for");
  invariant(next_state(task.state, transition.move) == transition.to,
            "only moves of the state table are applied");
  invariant(!is_claim(transition.move), "a claim names its new owner: apply(Task, Claim)");
  task.state = transition.to;
  task.ticket.fence = next(task.ticket.fence);
  // The dead owner must not take its successor's adoption for its own write.
  if (transition.move == Move::kAdopt) task.ticket.lease = LeaseId();
  task.due_at = transition.due_at;
  task.retries = transition.retries;
  task.deaths = transition.deaths;
  task.last_error = transition.error;
  task.spec.deadline = transition.deadline;
  task.start_recorded = false;
  if (task.state != State::kRunning) {
    task.owner.reset();
    task.lease_end.reset();
  }
  if (transition.move == task.requested || is_finished(task.state)) task.requested.reset();
  const bool ended = is_finished(task.state) || needs_person(task.state);
  task.ended_at = ended ? std::optional(transition.at) : std::nullopt;
  return task;
}

Task apply(Task task, const Claim& claim) {
  invariant(available_at(task) != kNever,
            "only what nobody holds, or holds by a lease, is claimed");
  // A worker that lets its lease end after a recorded start may have died of the task.
  if (task.state == State::kRunning && task.start_recorded) ++task.deaths;
  task.start_recorded = false;
  task.state = State::kRunning;
  task.ticket = {next(task.ticket.fence), claim.lease};
  task.owner = claim.owner;
  task.lease_end = claim.lease_end;
  return task;
}

}  // namespace recourse::task

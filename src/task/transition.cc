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
  const bool at_once = move == Move::kRetryNow || move == Move::kReopen;
  return {.task = task.id,
          .ticket = task.ticket,
          .move = move,
          .to = *to,
          .at = now,
          .due_at = at_once ? now : task.due_at,
          .retries = move == Move::kReopen ? 0 : task.retries,
          .error = task.last_error};
}

Task apply(Task task, const Transition& transition) {
  invariant(task.id == transition.task && task.ticket == transition.ticket,
            "a transition is applied to the row it was decided for");
  invariant(next_state(task.state, transition.move) == transition.to,
            "only moves of the state table are applied");
  invariant(!is_claim(transition.move), "a claim names its new owner: apply(Task, Claim)");
  task.state = transition.to;
  task.ticket.fence = next(task.ticket.fence);
  task.due_at = transition.due_at;
  task.retries = transition.retries;
  task.last_error = transition.error;
  if (task.state != State::kRunning) {
    task.owner.reset();
    task.lease_end.reset();
  }
  if (transition.move == Move::kReopen) task.deaths = 0;
  if (is_finished(task.state)) task.finished_at = transition.at;
  return task;
}

Task apply(Task task, const Claim& claim) {
  const Move move = task.state == State::kRunning ? Move::kTakeOver : Move::kClaim;
  invariant(next_state(task.state, move).has_value(), "only what is pending or running is claimed");
  task.state = State::kRunning;
  task.ticket = {next(task.ticket.fence), claim.lease};
  task.owner = claim.owner;
  task.lease_end = claim.lease_end;
  return task;
}

}  // namespace recourse::task

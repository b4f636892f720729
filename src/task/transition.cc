#include "task/transition.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>

#include "base/invariant.h"
#include "base/planted_bug.h"

namespace recourse::task {
namespace {

constexpr bool is_claim(Move move) { return move == Move::kClaim || move == Move::kTakeOver; }

void end_by_deaths(Transition& change) {
  change.move = Move::kGiveUp;
  change.to = State::kDead;
  change.error =
      Reason{.code = std::string(kOwnersDied),
             .message = fmt::format("{} owners died while they ran it; the last error before: {}",
                                    change.deaths, change.error ? change.error->message : "none")};
}

}  // namespace

Transition plan(const Task& task, Move move, TimePoint now) {
  const std::optional<State> to = next_state(task.state, move);
  invariant(to.has_value(), "the engine plans only moves of the state table");
  const bool died = move == Move::kAdopt && task.start == StartMark::kRecorded &&
                    !planted(PlantedBug::kDeathsNotCounted);
  return {.task = task.id,
          .account = account_of(task.spec),
          .ticket = task.ticket,
          .from = task.state,
          .move = move,
          .to = *to,
          .at = now,
          .due_at = move == Move::kRetryNow ? now : task.due_at,
          .retries = task.retries,
          .attempts = task.attempts,
          .episode = task.episode,
          .first_started_at = task.first_started_at,
          .deaths = task.deaths + (died ? 1 : 0),
          .error = task.last_error,
          .deadline = task.spec.deadline,
          .ends_lease = move == Move::kAdopt,
          .lending = std::nullopt};
}

Transition plan_lending(const Task& task, Lending lending, TimePoint now) {
  Transition transition = plan(task, Move::kLend, now);
  transition.lending = std::move(lending);
  return transition;
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
  transition.episode = task.episode + 1;
  transition.deadline = deadline;
  return transition;
}

bool applies_as_it_is(const Task& row, const Transition& transition) {
  return row.ticket == transition.ticket && row.state == transition.from && !row.requested;
}

Transition carry_out(Transition outcome, std::optional<Move> requested) {
  if (!requested || outcome.move == Move::kSucceed || outcome.lending ||
      planted(PlantedBug::kRequestIgnored)) {
    return outcome;
  }
  const bool goes_on = outcome.to == State::kPending || outcome.to == State::kRunning;
  if (*requested == Move::kRetryNow) {
    if (goes_on) outcome.due_at = outcome.at;
    return outcome;
  }
  if (*requested == Move::kPause && !goes_on) return outcome;
  const std::optional<State> to = next_state(outcome.from, *requested);
  if (!to) return outcome;
  outcome.move = *requested;
  outcome.to = *to;
  return outcome;
}

Transition plan_adoption(const Task& task, TimePoint now) {
  Transition adoption = plan(task, Move::kAdopt, now);
  if (adoption.deaths >= kDeathsMax) end_by_deaths(adoption);
  return carry_out(std::move(adoption), task.requested);
}

std::optional<Transition> plan_instead_of_run(const Task& taken, TimePoint now) {
  const bool stop = taken.deaths >= kDeathsMax;
  if (!taken.requested && !stop) return std::nullopt;
  Transition release = plan(taken, Move::kRelease, now);
  release.ends_lease = true;
  if (stop) end_by_deaths(release);
  return carry_out(std::move(release), taken.requested);
}

namespace {

// A start is certain, so that whoever is lent tasks and never reports is counted as an owner that
// died.
Task lent(Task task, const Transition& transition) {
  task.owner = transition.lending->worker;
  task.lease_end = saturating_add(transition.at, transition.lending->lease_for);
  task.first_started_at = transition.first_started_at;
  task.start = StartMark::kRecorded;
  return task;
}

}  // namespace

Task apply(Task task, const Transition& transition) {
  invariant(task.id == transition.task && task.ticket == transition.ticket,
            "a transition is applied to the row it was decided for");
  invariant(
      task.state == transition.from && next_state(task.state, transition.move) == transition.to,
      "only moves of the state table are applied");
  invariant(!is_claim(transition.move), "a claim names its new owner: apply(Task, Claim)");
  invariant((transition.move == Move::kLend) == transition.lending.has_value(),
            "who lends a task says to whom");
  if (transition.lending) return lent(std::move(task), transition);
  task.state = transition.to;
  const bool keeps_fence =
      planted(PlantedBug::kStickyKeepsFence) && transition.move == Move::kRetryHere;
  if (!keeps_fence) task.ticket.fence = next(task.ticket.fence);
  if (transition.ends_lease) task.ticket.lease = LeaseId();
  task.due_at = transition.due_at;
  task.retries = transition.retries;
  task.attempts = transition.attempts;
  task.episode = transition.episode;
  task.first_started_at = transition.first_started_at;
  task.deaths = transition.deaths;
  task.last_error = transition.error;
  task.spec.deadline = transition.deadline;
  if (transition.move == Move::kReopen || is_finished(transition.to)) {
    task.start = StartMark::kNone;
  } else if (transition.from == State::kRunning && transition.ends_lease) {
    task.start = StartMark::kAsked;
  } else {
    task.start = std::min(task.start, StartMark::kAsked);
  }
  if (is_finished(task.state)) task.ended_by = task.owner;
  const bool keeps_owner =
      planted(PlantedBug::kReleaseKeepsOwner) && transition.move == Move::kRelease;
  if (task.state != State::kRunning && !keeps_owner) {
    task.owner.reset();
    task.lease_end.reset();
  }
  task.requested.reset();
  const bool ended = is_finished(task.state) || needs_person(task.state);
  task.ended_at = ended ? std::optional(transition.at) : std::nullopt;
  return task;
}

Task apply(Task task, const Claim& claim) {
  invariant(available_at(task) != kNever,
            "only what nobody holds, or holds by a lease, is claimed");
  // A worker that lets its lease end after a recorded start may have died of the task.
  if (task.state == State::kRunning) {
    if (task.start == StartMark::kRecorded) ++task.deaths;
    task.start = StartMark::kAsked;
  }
  task.state = State::kRunning;
  task.ticket = {next(task.ticket.fence), claim.lease};
  task.owner = claim.owner;
  task.lease_end = claim.lease_end;
  return task;
}

}  // namespace recourse::task

#include "policy/strategy.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>

namespace recourse::policy {
namespace {

using task::Move;
using task::Transition;

Verdict end(const Situation& situation, Move move, std::optional<Escalation> escalation,
            task::Reason reason) {
  Transition transition = task::plan(situation.task, move, situation.now);
  transition.error = std::move(reason);
  return {std::move(transition), escalation};
}

task::Reason reason_of(const Decision& decision) { return {decision.code, decision.message}; }

Strategy ending_in(Move move, std::optional<Escalation> escalation) {
  return [=](const Situation& situation) {
    return end(situation, move, escalation, reason_of(situation.decision));
  };
}

Duration scaled(Duration delay, double factor) {
  const double product = static_cast<double>(delay.count()) * factor;
  constexpr auto kMost = static_cast<double>(Duration::max().count()) / 2;
  return Duration(static_cast<Duration::rep>(std::min(product, kMost)));
}

Duration wait_before_retry(const Situation& situation) {
  const Decision& decision = situation.decision;
  if (decision.snooze) return *decision.snooze;
  const Duration backoff = scaled(
      situation.backoff.delay(situation.task.retries + 1, situation.rng), decision.backoff_factor);
  const Duration asked_for =
      std::min(decision.retry_after.value_or(Duration::zero()), situation.backoff.max());
  return std::max(backoff, asked_for);
}

Move move_of(const Situation& situation) {
  if (situation.sticky_allowed && situation.decision.prefer_sticky) return Move::kRetryHere;
  return situation.decision.uses_retry ? Move::kRetry : Move::kRelease;
}

}  // namespace

Verdict retry_strategy(const Situation& situation) {
  const task::Task& task = situation.task;
  const Decision& decision = situation.decision;
  if (decision.uses_retry && task.retries >= task.spec.max_retries) {
    return end(situation, Move::kGiveUp, Escalation::kMaxRetryReached,
               {decision.code, fmt::format("gave up after {} retries; last error: {}", task.retries,
                                           decision.message)});
  }
  const TimePoint due = saturating_add(situation.now, wait_before_retry(situation));
  if (task.spec.deadline && due > *task.spec.deadline) {
    return end(
        situation, Move::kGiveUp, Escalation::kDeadLetter,
        {"DEADLINE", fmt::format("its deadline comes before the next retry, after {} retries; "
                                 "last error: {}",
                                 task.retries, decision.message)});
  }
  Transition transition = task::plan(task, move_of(situation), situation.now);
  transition.due_at = due;
  transition.retries = task.retries + (decision.uses_retry ? 1 : 0);
  transition.error = reason_of(decision);
  return {std::move(transition), std::nullopt};
}

Strategies::Strategies() {
  replace(Outcome::kRetry, retry_strategy);
  replace(Outcome::kDeadLetter, ending_in(Move::kGiveUp, Escalation::kDeadLetter));
  replace(Outcome::kFailed, ending_in(Move::kFail, Escalation::kNonRetryableFailed));
  replace(Outcome::kPaused, ending_in(Move::kPause, std::nullopt));
  replace(Outcome::kCancelled, ending_in(Move::kCancel, std::nullopt));
}

void Strategies::replace(Outcome outcome, Strategy strategy) {
  by_outcome_[static_cast<std::size_t>(outcome)] = std::move(strategy);
}

Verdict Strategies::carry_out(const Situation& situation) const {
  return by_outcome_[static_cast<std::size_t>(situation.decision.outcome)](situation);
}

}  // namespace recourse::policy

#include "policy/strategy.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>

#include "base/invariant.h"
#include "base/planted_bug.h"
#include "base/text.h"

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

task::Reason reason_of(const Decision& decision) {
  return {decision.code, clean_text(decision.message, kErrorCharactersMax)};
}

// The beginning of a reason's message; see escalation_of.
constexpr std::string_view kGaveUp = "gave up";

std::string after_retries(std::string_view why, int retries) {
  return fmt::format("{} after {} {}; last error: ", why, retries,
                     retries == 1 ? "retry" : "retries");
}

task::Reason reason_with(std::string code, std::string_view why, const Situation& situation) {
  return {std::move(code),
          clean_text(after_retries(why, situation.task.retries) + situation.decision.message,
                     kErrorCharactersMax)};
}

Strategy ending_in(Move move, std::optional<Escalation> escalation) {
  return [=](const Situation& situation) {
    return end(situation, move, escalation, reason_of(situation.decision));
  };
}

Duration wait_before_retry(const Situation& situation) {
  const Decision& decision = situation.decision;
  if (decision.snooze) return *decision.snooze;
  const Duration backoff = saturating_scale(
      situation.backoff.delay(situation.task.retries + 1, situation.rng), decision.backoff_factor);
  const Duration asked_for =
      std::min(decision.retry_after.value_or(Duration::zero()), situation.backoff.max());
  return std::max(backoff, asked_for);
}

// What our own limits put off, as against what the handler or the downstream asked for.
bool is_put_off(const Decision& decision) { return !decision.uses_retry && !decision.snooze; }

Move move_of(const Situation& situation, Duration wait) {
  if (situation.decision.prefer_sticky && wait <= situation.sticky_up_to) return Move::kRetryHere;
  return situation.decision.uses_retry ? Move::kRetry : Move::kRelease;
}

}  // namespace

Escalation escalation_of(const task::Task& task) {
  if (task.state == task::State::kFailed) return Escalation::kNonRetryableFailed;
  const bool ran_out = task.last_error && task.retries >= task.spec.max_retries &&
                       task.last_error->message.starts_with(after_retries(kGaveUp, task.retries));
  return ran_out ? Escalation::kMaxRetryReached : Escalation::kDeadLetter;
}

Verdict retry_strategy(const Situation& situation) {
  const task::Task& task = situation.task;
  const Decision& decision = situation.decision;
  const int more = planted(PlantedBug::kRetriesBeyondMax) ? 1 : 0;
  if (decision.uses_retry && task.retries >= task.spec.max_retries + more) {
    return end(situation, Move::kGiveUp, Escalation::kMaxRetryReached,
               reason_with(decision.code, kGaveUp, situation));
  }
  const Duration wait = wait_before_retry(situation);
  TimePoint due = saturating_add(situation.now, wait);
  if (task.spec.deadline && due > *task.spec.deadline) {
    const bool last_chance = is_put_off(decision) && situation.now <= *task.spec.deadline;
    if (!last_chance) {
      return end(situation, Move::kGiveUp, Escalation::kDeadLetter,
                 reason_with("DEADLINE", "its deadline comes before the next retry,", situation));
    }
    due = *task.spec.deadline;
  }
  Transition transition = task::plan(task, move_of(situation, wait), situation.now);
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
  invariant(strategy != nullptr, "every outcome has a strategy");
  by_outcome_[static_cast<std::size_t>(outcome)] = std::move(strategy);
}

Verdict Strategies::carry_out(const Situation& situation) const {
  return by_outcome_[static_cast<std::size_t>(situation.decision.outcome)](situation);
}

}  // namespace recourse::policy

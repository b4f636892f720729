#include "guard/retry_rule.h"

#include <algorithm>
#include <utility>

#include "base/text.h"
#include "task/transition.h"

namespace recourse::guard {
namespace {

constexpr std::string_view kNeedsPerson = "NEEDS_PERSON";
constexpr std::string_view kNotDue = "ROW_NOT_DUE";
constexpr std::string_view kNotOurs = "ROW_NOT_OURS";

task::Reason error_of(const policy::Decision& decision) {
  return {decision.code, clean_text(decision.message, kErrorCharactersMax)};
}

policy::Verdict end(const policy::Situation& situation) {
  task::Transition transition = task::plan(situation.task, task::Move::kCancel, situation.now);
  transition.error = error_of(situation.decision);
  return {.transition = std::move(transition), .escalation = std::nullopt};
}

}  // namespace

policy::Decision again_in(Duration wait, std::string_view code, std::string error) {
  policy::Decision decision =
      policy::retry(policy::Category::kBizRetryable, std::string(code), std::move(error));
  decision.prefer_sticky = true;
  decision.retry_after = wait;
  return decision;
}

policy::Decision not_before(Duration wait, std::string why) {
  policy::Decision decision =
      policy::retry(policy::Category::kBizRetryable, std::string(kNotDue), std::move(why));
  decision.prefer_sticky = true;
  decision.uses_retry = false;
  decision.snooze = wait;
  return decision;
}

// As a retry, so that the breaker hears of the failure.
policy::Decision with_a_person(std::string error) {
  return policy::retry(policy::Category::kBizRetryable, std::string(kNeedsPerson),
                       std::move(error));
}

policy::Decision not_ours(std::string why) {
  policy::Decision decision;
  decision.outcome = policy::Outcome::kCancelled;
  decision.category = policy::Category::kBizRetryable;
  decision.code = kNotOurs;
  decision.message = std::move(why);
  return decision;
}

bool has_tried_nothing(std::string_view code) { return code == kNotDue || code == kNotOurs; }

policy::Strategy retry_strategy(Duration otherwise) {
  return [otherwise](const policy::Situation& situation) -> policy::Verdict {
    const policy::Decision& decision = situation.decision;
    if (!decision.uses_retry) return policy::retry_strategy(situation);
    if (decision.code == kNeedsPerson) return end(situation);
    const task::Task& task = situation.task;
    const Duration wait = decision.retry_after.value_or(otherwise);
    const bool stays = decision.prefer_sticky && wait <= situation.sticky_up_to;
    task::Transition transition =
        task::plan(task, stays ? task::Move::kRetryHere : task::Move::kRetry, situation.now);
    transition.due_at = saturating_add(situation.now, wait);
    transition.retries = std::min(task.retries + 1, task.spec.max_retries);
    transition.error = error_of(decision);
    return {.transition = std::move(transition), .escalation = std::nullopt};
  };
}

engine::KindRules kind_rules(const GuardSettings& guard, engine::KindSettings kind) {
  engine::KindRules rules;
  rules.settings = std::move(kind);
  rules.strategies.replace(policy::Outcome::kRetry, retry_strategy(guard.min_interval));
  return rules;
}

}  // namespace recourse::guard

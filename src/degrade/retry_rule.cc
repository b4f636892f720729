#include "degrade/retry_rule.h"

namespace recourse::degrade {

policy::Verdict retry_strategy(const policy::Situation& situation) {
  // Nothing was attempted: what is put off is no retry, whoever counts.
  if (!situation.decision.uses_retry) return policy::retry_strategy(situation);
  task::Task counted = situation.task;
  ++counted.retries;
  policy::Verdict verdict = policy::retry_strategy({.task = counted,
                                                    .decision = situation.decision,
                                                    .backoff = situation.backoff,
                                                    .now = situation.now,
                                                    .sticky_up_to = situation.sticky_up_to,
                                                    .rng = situation.rng});
  verdict.transition.retries = counted.retries;
  return verdict;
}

policy::BackoffSettings preset_backoff() {
  policy::BackoffSettings settings;
  settings.base = kFirstRetryAfter;
  settings.max = kBackoffMax;
  return settings;
}

void count_from_inline_call(engine::KindRules& rules) {
  rules.strategies.replace(policy::Outcome::kRetry, retry_strategy);
}

}  // namespace recourse::degrade

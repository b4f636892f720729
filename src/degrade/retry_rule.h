// How a failure is retried: the call that failed inline was the first attempt, so that everything
// the engine runs of it is a retry. With three retries the handler is called three times: a minute
// after the failure, two minutes after that, four minutes after that; then a person has to look.
#pragma once

#include "base/time.h"
#include "engine/core/rules.h"
#include "policy/strategy.h"

namespace recourse::degrade {

inline constexpr int kRetries = 3;
inline constexpr Duration kFirstRetryAfter = std::chrono::minutes(1);
// Beyond the four minutes of the preset, for those who allow more retries.
inline constexpr Duration kBackoffMax = std::chrono::hours(1);

// As policy::retry_strategy, but counting from the inline call: the run at hand is retry number
// task.retries + 1, and the task ends with the last one that is allowed.
policy::Verdict retry_strategy(const policy::Situation& situation);

// The kind's backoff, where nothing else was asked for.
policy::BackoffSettings preset_backoff();

// Makes a kind's tasks count so. Its other rules stay as they are.
void count_from_inline_call(engine::KindRules& rules);

}  // namespace recourse::degrade

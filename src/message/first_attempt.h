// A message whose first attempt was made before there was a task: what the engine would have
// decided about it, as a task that is born with that attempt behind it. Pure.
#pragma once

#include <optional>
#include <string>

#include "base/rng.h"
#include "base/time.h"
#include "engine/core/happening.h"
#include "engine/core/rules.h"
#include "policy/decision.h"
#include "policy/failure.h"
#include "policy/strategy.h"
#include "store/inbox.h"
#include "store/work.h"
#include "task/record.h"

namespace recourse::message {

struct FirstAttempt {
  // Made for the call that will write it.
  task::TaskId id;
  task::TaskSpec spec;
  // Who made it: a node, and a lease id of this attempt's own.
  store::BirthClaim claim;
  // Both by the store's clock, as far as it is known.
  TimePoint started_at;
  TimePoint ended_at;
  // Used up before: of a message that was published again instead of being retried here.
  int retries = 0;
  // Written with it, for people; empty: none.
  std::string note = {};
};

// Goes into a Dealt, as its task and what was tried.
struct Tried {
  store::Submission task;
  store::Outcome outcome;
  // What was decided, for log lines and figures.
  policy::Category category = policy::Category::kUnknown;
  // Set where a person has to look.
  std::optional<policy::Escalation> escalation = std::nullopt;
};

// By the kind's strategies and its backoff, as the engine would have.
Tried tried(FirstAttempt attempt, const policy::Decision& decision, const engine::KindRules& rules,
            Rng& rng);
// By its router first.
Tried tried(FirstAttempt attempt, const policy::Failure& failure, const engine::KindRules& rules,
            Rng& rng);
// None was made yet, but retries are used up: due at once.
Tried untried(FirstAttempt attempt);

// As if the engine had moved it: whoever tells people and keeps figures hears of it.
engine::Moved moved_of(const store::Submission& task, const store::Outcome& outcome,
                       policy::Category category, std::optional<policy::Escalation> escalation);
inline engine::Moved moved_of(const Tried& tried) {
  return moved_of(tried.task, tried.outcome, tried.category, tried.escalation);
}

// Writes it down under the message's key.
store::Dealt dealt(store::MessageKey key, Duration keep_for, Tried tried);

}  // namespace recourse::message

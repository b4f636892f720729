// From a decision to a change: one strategy per outcome, each a function from what it may see to a
// Transition. The engine applies whatever comes out, so a new outcome or another way to retry never
// touches it.
#pragma once

#include <array>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <optional>
#include <string_view>

#include "base/rng.h"
#include "base/time.h"
#include "policy/backoff.h"
#include "policy/decision.h"
#include "task/record.h"
#include "task/transition.h"

namespace recourse::policy {

// What a person is told, once per episode.
enum class Escalation : std::uint8_t {
  kDeadLetter,
  kMaxRetryReached,     // instead of dead letter where the retries ran out
  kNonRetryableFailed,  // outcome FAILED
};

constexpr std::string_view to_string(Escalation escalation) {
  switch (escalation) {
    case Escalation::kDeadLetter: return "DEAD_LETTER";
    case Escalation::kMaxRetryReached: return "MAX_RETRY_REACHED";
    case Escalation::kNonRetryableFailed: return "NON_RETRYABLE_FAILED";
  }
  std::abort();
}

// Of a task that is dead or failed, as it is read from the store. Its reason's code is the last
// failure's, so that retries that ran out are told apart by the words that the strategy gives them:
// a last failure that could not have been retried anyway has none of them.
Escalation escalation_of(const task::Task& task);

// All that a strategy may look at.
struct Situation {
  const task::Task& task;  // running
  const Decision& decision;
  const Backoff& backoff;
  TimePoint now;
  // How long a wait the node may keep to itself; zero where sticky retries are switched off. Longer
  // ones go back to the store, so that they do not fill the wheel.
  Duration sticky_up_to;
  Rng& rng;
};

struct Verdict {
  task::Transition transition;
  std::optional<Escalation> escalation;
};

using Strategy = std::function<Verdict(const Situation&)>;

class Strategies {
 public:
  // The five of the product.
  Strategies();

  void replace(Outcome outcome, Strategy strategy);
  [[nodiscard]] Verdict carry_out(const Situation& situation) const;

 private:
  std::array<Strategy, kAllOutcomes.size()> by_outcome_;
};

// RETRY: waits backoff x factor, at least as long as the downstream asked for, or exactly as long
// as the handler snoozes. Used up, or past its deadline, the task ends as dead instead; one that is
// only put off gets its last chance at the deadline.
Verdict retry_strategy(const Situation& situation);

}  // namespace recourse::policy

#include "degrade/retry_rule.h"

#include <gtest/gtest.h>

#include <vector>

#include "policy/failure.h"

namespace recourse::degrade {
namespace {

using namespace std::chrono_literals;

constexpr TimePoint kToday{std::chrono::sys_days{std::chrono::year{2026} / 5 / 1}};

class RetryRule : public ::testing::Test {
 protected:
  RetryRule() {
    task_.spec.kind = task::Kind("grant-points");
    task_.spec.max_retries = kRetries;
    task_.state = task::State::kRunning;
    decision_.outcome = policy::Outcome::kRetry;
    decision_.code = "IO";
    decision_.message = "points service is down";
  }

  policy::Verdict fails() {
    policy::BackoffSettings settings = preset_backoff();
    settings.jitter = policy::Jitter::kNone;
    const auto backoff = policy::Backoff::make(policy::BackoffRegistry(), settings).value();
    return retry_strategy({.task = task_,
                           .decision = decision_,
                           .backoff = backoff,
                           .now = kToday,
                           .sticky_up_to = 0s,
                           .rng = rng_});
  }

  task::Task task_;
  policy::Decision decision_;
  Rng rng_{1};
};

// DEGR-3: the first retry comes a minute after the failure (the submit's delay), the others by
// this; the third is the last, and its end says how many there were, and what was wrong.
TEST_F(RetryRule, ThreeRetriesOneTwoAndFourMinutesApart) {
  EXPECT_EQ(kFirstRetryAfter, 1min);
  std::vector<Duration> waits;
  int runs = 0;
  policy::Verdict verdict = fails();
  while (++runs < 10 && verdict.transition.to == task::State::kPending) {
    waits.push_back(verdict.transition.due_at - kToday);
    task_.retries = verdict.transition.retries;
    EXPECT_EQ(task_.retries, runs);
    verdict = fails();
  }

  EXPECT_EQ(runs, 3);
  EXPECT_EQ(waits, (std::vector<Duration>{2min, 4min}));
  EXPECT_EQ(verdict.transition.to, task::State::kDead);
  EXPECT_EQ(verdict.transition.retries, 3);
  EXPECT_EQ(verdict.transition.error->message,
            "gave up after 3 retries; last error: points service is down");
  EXPECT_EQ(verdict.escalation, policy::Escalation::kMaxRetryReached);
}

// So that a notice after a restart says the same.
TEST_F(RetryRule, TheEndIsReadFromTheRowAsItWasDecided) {
  task_.retries = 2;
  const policy::Verdict verdict = fails();

  task_.state = verdict.transition.to;
  task_.retries = verdict.transition.retries;
  task_.last_error = verdict.transition.error;

  EXPECT_EQ(policy::escalation_of(task_), policy::Escalation::kMaxRetryReached);
}

TEST_F(RetryRule, WhatIsPutOffIsNoRetry) {
  decision_.uses_retry = false;
  task_.retries = 2;

  const policy::Verdict verdict = fails();

  EXPECT_EQ(verdict.transition.to, task::State::kPending);
  EXPECT_EQ(verdict.transition.retries, 2);
}

}  // namespace
}  // namespace recourse::degrade

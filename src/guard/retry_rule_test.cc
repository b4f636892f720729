#include "guard/retry_rule.h"

#include <gtest/gtest.h>

namespace recourse::guard {
namespace {

using namespace std::chrono_literals;

constexpr TimePoint kToday{std::chrono::sys_days{std::chrono::year{2026} / 2 / 5}};

class RowRetryRule : public ::testing::Test {
 protected:
  RowRetryRule() {
    task_.spec.kind = task::Kind("guard.user_bill");
    task_.spec.max_retries = 2;
    task_.state = task::State::kRunning;
  }

  policy::Verdict decided(const policy::Decision& decision) {
    const auto backoff = policy::Backoff::make(policy::BackoffRegistry(), {}).value();
    return retry_strategy(5s)({.task = task_,
                               .decision = decision,
                               .backoff = backoff,
                               .now = kToday,
                               .sticky_up_to = 60s,
                               .rng = rng_});
  }

  task::Task task_;
  Rng rng_{1};
};

// GUARD-10: the row says when, and no backoff, jitter or maximum of the engine's changes it.
TEST_F(RowRetryRule, ATaskComesBackExactlyWhenItsRowIsDue) {
  const policy::Verdict soon = decided(again_in(5s, "ROW_FAILED", "declined"));
  const policy::Verdict late = decided(again_in(26h, "ROW_FAILED", "declined"));

  EXPECT_EQ(soon.transition.due_at, kToday + 5s);
  EXPECT_EQ(soon.transition.move, task::Move::kRetryHere);
  EXPECT_EQ(late.transition.due_at, kToday + 26h);
  EXPECT_EQ(late.transition.move, task::Move::kRetry);
}

TEST_F(RowRetryRule, TheTaskNeverGivesUpBecauseTheRowSaysWhenItIsEnough) {
  task_.retries = task_.spec.max_retries;

  const policy::Verdict verdict = decided(again_in(5s, "ROW_FAILED", "declined"));

  EXPECT_EQ(verdict.transition.retries, task_.spec.max_retries);
  EXPECT_FALSE(task::needs_person(verdict.transition.to));
  EXPECT_EQ(verdict.escalation, std::nullopt);
}

TEST_F(RowRetryRule, ARunThatOverranItsTimeIsAskedForAgainAfterTheInterval) {
  const policy::Verdict verdict =
      decided(policy::retry(policy::Category::kTimeout, "TIMEOUT", "no answer within 10s"));

  EXPECT_EQ(verdict.transition.due_at, kToday + 5s);
}

// The row is the outbox of what people are told: a dead letter would tell them twice.
TEST_F(RowRetryRule, ARowThatIsGivenToAPersonEndsItsTaskAsNoDeadLetter) {
  const policy::Decision decision = with_a_person("declined");

  const policy::Verdict verdict = decided(decision);

  EXPECT_EQ(verdict.transition.to, task::State::kCancelled);
  EXPECT_EQ(verdict.escalation, std::nullopt);
  EXPECT_EQ(verdict.transition.error->message, "declined");
  EXPECT_TRUE(policy::blames_downstream(decision)) << "the breaker hears of it all the same";
}

TEST_F(RowRetryRule, ARowThatIsNotDueYetCostsNoRetryAndBlamesNobody) {
  const policy::Decision decision = not_before(3s, "later");

  const policy::Verdict verdict = decided(decision);

  EXPECT_EQ(verdict.transition.due_at, kToday + 3s);
  EXPECT_EQ(verdict.transition.retries, 0);
  EXPECT_FALSE(policy::blames_downstream(decision));
}

TEST_F(RowRetryRule, WhatAnOpenBreakerPutsOffWaitsAsAnyOtherTask) {
  const policy::Verdict verdict =
      decided(policy::put_off(policy::Category::kOpenCircuit, "the breaker is open"));

  EXPECT_EQ(verdict.transition.retries, 0);
  EXPECT_GT(verdict.transition.due_at, kToday);
  EXPECT_EQ(verdict.transition.move, task::Move::kRelease);
}

TEST_F(RowRetryRule, EveryDecisionOfARunCanBeCarriedOut) {
  for (const policy::Decision& decision :
       {again_in(5s, "ROW_FAILED", "e"), not_before(1s, "e"), with_a_person("e"), not_ours("e")}) {
    EXPECT_TRUE(policy::validate(decision)) << decision.code;
  }
}

}  // namespace
}  // namespace recourse::guard

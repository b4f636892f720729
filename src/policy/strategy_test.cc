#include "policy/strategy.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace recourse::policy {
namespace {

using namespace std::chrono_literals;
using task::Move;
using task::State;
using testing::HasSubstr;

constexpr TimePoint kNow{std::chrono::seconds(1'000)};

class StrategyTest : public testing::Test {
 protected:
  StrategyTest() { task_.state = State::kRunning; }

  Verdict carry_out(const Decision& decision) {
    return strategies_.carry_out({task_, decision, backoff_, kNow, sticky_up_to_, rng_});
  }

  task::Task task_;
  Duration sticky_up_to_ = 300s;
  Rng rng_{1};
  Backoff backoff_ = Backoff::make(BackoffRegistry(), {.jitter = Jitter::kNone}).value();
  Strategies strategies_;
};

TEST_F(StrategyTest, ARetryWaitsBackoffTimesFactor) {  // FAIL-4
  task_.retries = 2;
  Decision decision = retry(Category::kIo, "IO_ERROR", "refused");
  decision.backoff_factor = 4;

  const Verdict verdict = carry_out(decision);

  EXPECT_EQ(verdict.transition.due_at, kNow + 16s);
  EXPECT_EQ(verdict.transition.retries, 3);
  EXPECT_EQ(verdict.transition.error, (task::Reason{"IO_ERROR", "refused"}));
  EXPECT_EQ(verdict.escalation, std::nullopt);
}

TEST_F(StrategyTest, ItIsStickyWhereBothTheDecisionAndTheSettingSaySo) {  // LEASE-3
  Decision decision = retry(Category::kIo, "IO_ERROR", "refused");
  EXPECT_EQ(carry_out(decision).transition.move, Move::kRetryHere);

  sticky_up_to_ = 0s;
  EXPECT_EQ(carry_out(decision).transition.move, Move::kRetry);

  sticky_up_to_ = 300s;
  decision.prefer_sticky = false;
  EXPECT_EQ(carry_out(decision).transition.to, State::kPending);
}

TEST_F(StrategyTest, RetriesUsedUpEndAsDeadWithTheirCountAndLastError) {  // FAIL-5
  task_.retries = 5;

  const Verdict verdict = carry_out(retry(Category::kTimeout, "TIMEOUT", "no answer within 10s"));

  EXPECT_EQ(verdict.transition.to, State::kDead);
  EXPECT_EQ(verdict.escalation, Escalation::kMaxRetryReached);
  EXPECT_EQ(verdict.transition.error->code, "TIMEOUT");
  EXPECT_EQ(verdict.transition.error->message,
            "gave up after 5 retries; last error: no answer within 10s");
}

TEST_F(StrategyTest, WhatPeopleAreToldIsReadFromTheRowAsItWasDecided) {  // FAIL-5, NOTE-1
  const auto agrees = [this](const Decision& decision, Escalation expected) {
    const Verdict verdict = carry_out(decision);
    EXPECT_EQ(verdict.escalation, expected) << decision.code;
    EXPECT_EQ(escalation_of(task::apply(task_, verdict.transition)), expected) << decision.code;
  };
  const Decision again = retry(Category::kIo, "IO_ERROR", "refused");
  Decision failed = dead_letter(Category::kBiz4xx, "NO_MONEY", "no");
  failed.outcome = Outcome::kFailed;
  task_.retries = 5;
  agrees(again, Escalation::kMaxRetryReached);
  agrees(dead_letter(Category::kBiz4xx, "HTTP_422", "no such order"), Escalation::kDeadLetter);
  agrees(failed, Escalation::kNonRetryableFailed);
  task_.spec.max_retries = task_.retries = 0;
  agrees(again, Escalation::kMaxRetryReached);
  task_.spec.max_retries = 5;
  task_.retries = 4;
  task_.spec.deadline = kNow + 1us;
  agrees(again, Escalation::kDeadLetter);
}

TEST(EscalationOf, WhatEndedWithoutAnAttemptIsADeadLetter) {
  task::Task task;
  task.state = State::kDead;
  task.spec.max_retries = task.retries = 3;
  for (const task::Reason& reason : {task::Reason{"NO_HANDLER", "no live node has a handler"},
                                     task::Reason{std::string(task::kOwnersDied), "3 owners died"},
                                     task::Reason{"DEADLINE", "its deadline passed; last error: x"},
                                     task::Reason{"IO_ERROR", "gave up after 2 retries; "}}) {
    task.last_error = reason;
    EXPECT_EQ(escalation_of(task), Escalation::kDeadLetter) << reason.code;
  }
  task.last_error.reset();
  EXPECT_EQ(escalation_of(task), Escalation::kDeadLetter);
}

TEST_F(StrategyTest, ADeadlineBeforeTheNextRetryEndsTheTaskNow) {  // ENG-9
  task_.spec.deadline = kNow + 1s;
  const Decision decision = retry(Category::kIo, "IO_ERROR", "refused");
  EXPECT_EQ(carry_out(decision).transition.to, State::kRunning)
      << "a start at the deadline is in time";

  task_.retries = 1;
  const Verdict verdict = carry_out(decision);

  EXPECT_EQ(verdict.transition.to, State::kDead);
  EXPECT_EQ(verdict.transition.error->code, "DEADLINE");
  EXPECT_EQ(verdict.escalation, Escalation::kDeadLetter);
}

TEST_F(StrategyTest, RetryAfterIsHonouredUpToTheMaximum) {
  Decision decision = retry(Category::kRateLimited, "HTTP_429", "slow down");

  decision.retry_after = 2min;
  EXPECT_EQ(carry_out(decision).transition.due_at, kNow + 2min);
  decision.retry_after = 24h;
  EXPECT_EQ(carry_out(decision).transition.due_at, kNow + 300s);
  decision.retry_after = 0s;
  EXPECT_EQ(carry_out(decision).transition.due_at, kNow + 1s);
}

TEST_F(StrategyTest, WhatIsPutOffUsesNoRetry) {  // LOAD-3
  task_.retries = 5;

  const Verdict verdict = carry_out(put_off(Category::kOpenCircuit, "breaker open"));

  EXPECT_EQ(verdict.transition.move, Move::kRelease);
  EXPECT_EQ(verdict.transition.retries, 5);
  EXPECT_EQ(verdict.transition.due_at, kNow + 128s) << "32 s, the sixth step, times four";
}

TEST_F(StrategyTest, WhatIsPutOffPastItsDeadlineGetsItsLastChanceThere) {
  task_.spec.deadline = kNow + 3s;
  const Verdict verdict = carry_out(put_off(Category::kOpenCircuit, "breaker open"));
  EXPECT_EQ(verdict.transition.to, State::kPending) << "nothing was tried yet";
  EXPECT_EQ(verdict.transition.due_at, kNow + 3s);

  task_.spec.deadline = kNow - 1s;
  EXPECT_EQ(carry_out(put_off(Category::kOpenCircuit, "open")).transition.to, State::kDead);
}

TEST_F(StrategyTest, ALongErrorIsCutWhenItBecomesTheTasksReason) {
  task_.retries = 5;

  const Verdict verdict = carry_out(retry(Category::kIo, "IO_ERROR", std::string(10'000, 'x')));

  EXPECT_EQ(verdict.transition.error->message.size(), 4'000U);
}

TEST_F(StrategyTest, ASnoozeIsExactlyAsLongAsTheHandlerSays) {
  Decision decision = retry(Category::kBizRetryable, "SNOOZE", "bank opens at nine");
  decision.snooze = 9h;
  decision.uses_retry = false;

  const Verdict verdict = carry_out(decision);

  EXPECT_EQ(verdict.transition.due_at, kNow + 9h);
  EXPECT_EQ(verdict.transition.retries, 0);
  EXPECT_EQ(verdict.transition.move, Move::kRelease) << "too long for a node to keep it";
}

TEST_F(StrategyTest, EveryOtherOutcomeEndsTheAttemptInItsState) {  // FAIL-3
  const auto ends = [&](Outcome outcome) {
    return carry_out({.outcome = outcome, .code = "C", .message = "m"});
  };

  EXPECT_EQ(ends(Outcome::kDeadLetter).transition.to, State::kDead);
  EXPECT_EQ(ends(Outcome::kDeadLetter).escalation, Escalation::kDeadLetter);
  EXPECT_EQ(ends(Outcome::kFailed).transition.to, State::kFailed);
  EXPECT_EQ(ends(Outcome::kFailed).escalation, Escalation::kNonRetryableFailed);
  EXPECT_EQ(ends(Outcome::kPaused).transition.to, State::kPaused);
  EXPECT_EQ(ends(Outcome::kCancelled).transition.to, State::kCancelled);
  EXPECT_EQ(ends(Outcome::kCancelled).transition.error, (task::Reason{"C", "m"}));
}

TEST_F(StrategyTest, AStrategyCanBeReplaced) {
  strategies_.replace(Outcome::kFailed, [](const Situation& situation) {
    return Verdict{task::plan(situation.task, Move::kIgnore, situation.now), std::nullopt};
  });

  EXPECT_EQ(carry_out({.outcome = Outcome::kFailed}).transition.to, State::kIgnored);
}

RC_GTEST_PROP(Strategy, EveryVerdictAppliesAndNeverExceedsTheRetries, (std::uint64_t seed)) {
  Rng rng(seed);
  const Backoff backoff = Backoff::make(BackoffRegistry(), {}).value();
  task::Task task;
  task.state = State::kRunning;
  task.spec.max_retries = *rc::gen::inRange(0, 10);
  task.retries = *rc::gen::inRange(0, task.spec.max_retries + 1);
  if (*rc::gen::arbitrary<bool>()) task.spec.deadline = kNow + *rc::gen::inRange(0, 600) * 1s;
  const auto any_wait = rc::gen::maybe(
      rc::gen::map(rc::gen::inRange(0, 3'600), [](int n) { return Duration(n * 1s); }));
  const auto as_optional = [](const rc::Maybe<Duration>& wait) {
    return wait ? std::optional(*wait) : std::nullopt;
  };
  const Decision decision{.outcome = *rc::gen::elementOf(kAllOutcomes),
                          .prefer_sticky = *rc::gen::arbitrary<bool>(),
                          .backoff_factor = *rc::gen::inRange(0, 1'001) / 1.0,
                          .retry_after = as_optional(*any_wait),
                          .snooze = as_optional(*any_wait),
                          .uses_retry = *rc::gen::arbitrary<bool>()};
  const Duration sticky_up_to = *rc::gen::inRange(0, 2) * 300s;

  const Verdict verdict =
      Strategies().carry_out({task, decision, backoff, kNow, sticky_up_to, rng});

  const task::Task after = task::apply(task, verdict.transition);
  RC_ASSERT(after.retries <= task.spec.max_retries);
  if (after.state == State::kRunning || after.state == State::kPending) {
    RC_ASSERT(after.due_at >= kNow);
    if (after.state == State::kRunning) RC_ASSERT(after.due_at <= kNow + sticky_up_to);
    if (task.spec.deadline) RC_ASSERT(after.due_at <= *task.spec.deadline);
  }
  RC_ASSERT(verdict.escalation.has_value() == task::needs_person(after.state));
}

TEST_F(StrategyTest, AWaitThatTheNodeMayJustKeepStaysThere) {
  sticky_up_to_ = 1s;
  Decision decision = retry(Category::kIo, "IO_ERROR", "refused");
  EXPECT_EQ(carry_out(decision).transition.move, Move::kRetryHere);

  decision.snooze = 1s;
  decision.uses_retry = false;
  EXPECT_EQ(carry_out(decision).transition.move, Move::kRetryHere) << "a snooze too";
}

TEST_F(StrategyTest, OnlyWhatIsPutOffHasALastChanceAtItsDeadline) {
  task_.spec.deadline = kNow;
  const Decision put = put_off(Category::kOpenCircuit, "breaker open");
  EXPECT_EQ(carry_out(put).transition.due_at, kNow) << "a start at the deadline is in time";

  Decision snooze = retry(Category::kBizRetryable, "SNOOZE", "bank opens at nine");
  snooze.snooze = 9h;
  snooze.uses_retry = false;
  EXPECT_EQ(carry_out(snooze).transition.to, State::kDead);
}

}  // namespace
}  // namespace recourse::policy

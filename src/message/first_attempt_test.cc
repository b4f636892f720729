#include "message/first_attempt.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "policy/failure_router.h"

namespace recourse::message {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr TimePoint kStart{std::chrono::sys_days{std::chrono::year{2026} / 5 / 1}};
constexpr TimePoint kEnd = kStart + 30ms;

engine::KindRules rules() {
  engine::KindRules rules;
  rules.settings.backoff.strategy = "message";
  rules.router = policy::message_router();
  return rules;
}

FirstAttempt attempt(int retries = 0) {
  UlidSequence ids(1);
  FirstAttempt made{.id = task::TaskId(ids.next(kStart)),
                    .spec = {},
                    .claim = {.owner = task::Incarnation(ids.next(kStart)),
                              .lease = task::LeaseId(ids.next(kStart))},
                    .started_at = kStart,
                    .ended_at = kEnd,
                    .retries = retries};
  made.spec.kind = task::Kind("orders");
  made.spec.payload = "{}";
  return made;
}

Tried fails(FirstAttempt made, const std::string& why = "connection refused") {
  Rng rng(1);
  return tried(std::move(made), policy::Failure(policy::Declined{why}), rules(), rng);
}

// MSG-4, MSG-6
TEST(FirstAttempt, OneThatMaySucceedLaterIsDueAfterASecond) {
  const Tried tried = fails(attempt());

  const task::Transition& change = tried.outcome.transition;
  EXPECT_EQ(change.move, task::Move::kRetry);
  EXPECT_EQ(change.to, task::State::kPending);
  EXPECT_EQ(change.due_at, kEnd + 1s);
  EXPECT_EQ(change.retries, 1);
  EXPECT_EQ(change.attempts, 1);
  EXPECT_EQ(change.first_started_at, kStart);
  EXPECT_FALSE(tried.escalation);
}

// MSG-5: its history begins with this attempt.
TEST(FirstAttempt, IsOnTheRecord) {
  FirstAttempt made = attempt();
  made.note = "message:{}";
  const task::Incarnation owner = made.claim.owner;
  const Tried tried = fails(std::move(made));

  const store::Outcome& outcome = tried.outcome;
  ASSERT_TRUE(outcome.attempt);
  EXPECT_EQ(outcome.attempt->number, 1);
  EXPECT_EQ(outcome.attempt->started_at, kStart);
  EXPECT_EQ(outcome.attempt->ended_at, kEnd);
  EXPECT_EQ(outcome.attempt->owner, task::to_string(task::Owner(owner)));
  EXPECT_EQ(outcome.attempt->next_due, kEnd + 1s);
  EXPECT_THAT(outcome.attempt->error->message, HasSubstr("connection refused"));
  ASSERT_EQ(outcome.notes.size(), 1U);
  EXPECT_EQ(outcome.notes[0].text, "message:{}");
  EXPECT_EQ(outcome.notes[0].fence, outcome.transition.ticket.fence);
}

TEST(FirstAttempt, IsBornUnderTheTicketOfItsOutcome) {
  const Tried tried = fails(attempt());

  ASSERT_TRUE(tried.task.claim);
  EXPECT_EQ(tried.task.id, tried.outcome.transition.task);
  EXPECT_EQ(tried.task.delay, Duration::zero());
  EXPECT_EQ(tried.task.spec.payload, "{}");
  EXPECT_EQ(tried.outcome.transition.ticket.lease, tried.task.claim->lease);
  EXPECT_EQ(tried.outcome.transition.ticket.fence, task::next(task::Fence()));
  EXPECT_EQ(tried.outcome.transition.from, task::State::kRunning);
  EXPECT_EQ(tried.outcome.transition.account, task::account_of(tried.task.spec));
}

// MSG-4, MSG-8
TEST(FirstAttempt, OneThatRetryingDoesNotHealGoesToAPersonAtOnce) {
  const Tried tried = fails(attempt(), "the balance is too low");

  EXPECT_EQ(tried.outcome.transition.to, task::State::kDead);
  EXPECT_EQ(tried.escalation, policy::Escalation::kDeadLetter);
  EXPECT_FALSE(tried.outcome.attempt->next_due);
}

// What was published again goes on where it was, and ends where its retries do.
TEST(FirstAttempt, RetriesThatWereUsedBeforeCount) {
  const Tried second = fails(attempt(1));
  const Tried last = fails(attempt(5));

  EXPECT_EQ(second.outcome.transition.retries, 2);
  EXPECT_EQ(second.outcome.transition.due_at, kEnd + 2s);
  EXPECT_EQ(last.outcome.transition.to, task::State::kDead);
  EXPECT_EQ(last.escalation, policy::Escalation::kMaxRetryReached);
}

TEST(FirstAttempt, OneThatWasNotMadeIsDueAtOnce) {
  const Tried tried = untried(attempt(3));

  EXPECT_EQ(tried.outcome.transition.to, task::State::kPending);
  EXPECT_LE(tried.outcome.transition.due_at, kEnd);
  EXPECT_EQ(tried.outcome.transition.retries, 3);
  EXPECT_EQ(tried.outcome.transition.attempts, 0);
  EXPECT_FALSE(tried.outcome.attempt);
  EXPECT_THAT(tried.outcome.notes, IsEmpty());
}

TEST(FirstAttempt, IsDealtWithUnderTheMessagesKey) {
  const store::Dealt marked = dealt(store::MessageKey("k"), 1h, fails(attempt()));

  EXPECT_EQ(marked.key.value, "k");
  EXPECT_EQ(marked.keep_for, 1h);
  EXPECT_TRUE(marked.task && marked.tried);
}

}  // namespace
}  // namespace recourse::message

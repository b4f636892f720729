#include "task/transition.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace recourse::task {
namespace {

using std::chrono_literals::operator""s;

const TimePoint kNow{100s};

Claim some_claim(std::uint8_t lease) {
  Ulid id;
  id.bytes.back() = lease;
  return {.owner = Incarnation(id), .lease = LeaseId(id), .lease_end = std::nullopt};
}

Task running_task() {
  Task task;
  task.due_at = TimePoint(50s);
  task.retries = 2;
  return apply(task, some_claim(1));
}

TEST(Transition, AClaimNamesTheOwnerAndRaisesTheFence) {
  const Task task = running_task();

  EXPECT_EQ(task.state, State::kRunning);
  EXPECT_EQ(task.ticket.fence, Fence(1));
  EXPECT_EQ(task.owner, some_claim(1).owner);
}

TEST(Transition, ATakeoverRaisesTheFenceAgain) {
  const Task task = apply(running_task(), some_claim(2));

  EXPECT_EQ(task.ticket, (Ticket{Fence(2), some_claim(2).lease}));
}

TEST(Transition, AnOutcomeEndsTheOwnershipAndLeavesTheLeaseIdToBeRecognised) {
  const Task before = running_task();

  const Task after = apply(before, plan(before, Move::kSucceed, kNow));

  EXPECT_EQ(after.state, State::kSucceeded);
  EXPECT_FALSE(after.owner);
  EXPECT_EQ(after.finished_at, kNow);
  EXPECT_EQ(judge_write(after.ticket, before.ticket), WriteVerdict::kAlreadyApplied);
}

TEST(Transition, AStickyRetryKeepsItsOwner) {
  const Task before = running_task();
  Transition retry = plan(before, Move::kRetryHere, kNow);
  retry.due_at = TimePoint(110s);
  retry.retries = 3;
  retry.error = Reason{"TIMEOUT", "no answer within 10s"};

  const Task after = apply(before, retry);

  EXPECT_EQ(after.owner, before.owner);
  EXPECT_EQ(after.due_at, TimePoint(110s));
  EXPECT_EQ(after.retries, 3);
  EXPECT_EQ(after.last_error->code, "TIMEOUT");
}

TEST(Transition, AReopenedTaskStartsANewEpisodeAtOnce) {
  Task task = running_task();
  task.deaths = 2;
  task = apply(task, plan(task, Move::kGiveUp, kNow));

  task = apply(task, plan(task, Move::kReopen, kNow));

  EXPECT_EQ(task.state, State::kPending);
  EXPECT_EQ(task.due_at, kNow);
  EXPECT_EQ(task.retries, 0);
  EXPECT_EQ(task.deaths, 0);
}

TEST(Transition, WhatTheTableForbidsStopsTheProcess) {
  const Task pending;

  EXPECT_DEATH((void)plan(pending, Move::kSucceed, kNow), "only moves of the state table");
}

TEST(Transition, AnotherRowsTransitionStopsTheProcess) {
  const Task before = running_task();
  const Transition late = plan(before, Move::kSucceed, kNow);
  const Task taken_over = apply(before, some_claim(2));

  EXPECT_DEATH((void)apply(taken_over, late), "the row it was decided for");
}

RC_GTEST_PROP(Transition, EveryStepRaisesTheFenceByOneAndOnlyRunningHasAnOwner, ()) {
  Task task;
  for (const Move move : *rc::gen::container<std::vector<Move>>(rc::gen::elementOf(kAllMoves))) {
    if (!next_state(task.state, move)) continue;
    const Fence before = task.ticket.fence;

    const bool claims = move == Move::kClaim || move == Move::kTakeOver;
    task = claims ? apply(task, some_claim(1)) : apply(task, plan(task, move, kNow));

    RC_ASSERT(task.ticket.fence == next(before));
    RC_ASSERT(task.owner.has_value() == (task.state == State::kRunning));
    RC_ASSERT(task.finished_at.has_value() == is_finished(task.state));
  }
}

}  // namespace
}  // namespace recourse::task

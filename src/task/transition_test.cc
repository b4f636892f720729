#include "task/transition.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace recourse::task {
namespace {

using namespace std::chrono_literals;

const TimePoint kNow{100s};

Claim some_claim(std::uint8_t lease) {
  Ulid id;
  id.bytes.back() = lease;
  return {.owner = Owner(Incarnation(id)), .lease = LeaseId(id), .lease_end = std::nullopt};
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
  Task leased = running_task();
  leased.lease_end = TimePoint(90s);
  leased.start = StartMark::kRecorded;

  const Task task = apply(leased, some_claim(2));

  EXPECT_EQ(task.ticket, (Ticket{Fence(2), some_claim(2).lease}));
  EXPECT_EQ(task.deaths, 1) << "the worker may have died of it";
}

TEST(Transition, ALiveNodesTaskIsNotClaimed) {
  EXPECT_DEATH((void)apply(running_task(), some_claim(2)), "only what nobody holds");
}

TEST(Transition, AnOutcomeEndsTheOwnershipAndLeavesTheLeaseIdToBeRecognised) {
  const Task before = running_task();

  const Task after = apply(before, plan(before, Move::kSucceed, kNow));

  EXPECT_EQ(after.state, State::kSucceeded);
  EXPECT_FALSE(after.owner);
  EXPECT_EQ(after.ended_at, kNow);
  EXPECT_EQ(judge_write(after.ticket, before.ticket), WriteVerdict::kAlreadyApplied);
}

TEST(Transition, ARowAppliesAsItIsOnlyWhereNothingHappenedSince) {
  const Task row = running_task();
  const Transition change = plan(row, Move::kSucceed, kNow);
  EXPECT_TRUE(applies_as_it_is(row, change));

  Task taken_over = row;
  taken_over.ticket = Ticket{next(row.ticket.fence), some_claim(2).lease};
  EXPECT_FALSE(applies_as_it_is(taken_over, change));
  Task moved = row;
  moved.state = State::kPaused;
  EXPECT_FALSE(applies_as_it_is(moved, change));
  Task asked = row;
  asked.requested = Move::kCancel;
  EXPECT_FALSE(applies_as_it_is(asked, change));
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

TEST(Transition, AnAdoptedTaskRefusesItsDeadOwnersLateOutcome) {
  const Task before = running_task();

  const Task adopted = apply(before, plan(before, Move::kAdopt, kNow));

  EXPECT_EQ(adopted.state, State::kPending);
  EXPECT_EQ(judge_write(adopted.ticket, before.ticket), WriteVerdict::kRefused);
}

TEST(Transition, OnlyADeathAfterARecordedStartCounts) {
  Task task = running_task();
  EXPECT_EQ(plan(task, Move::kAdopt, kNow).deaths, 0);

  task.start = StartMark::kRecorded;
  EXPECT_EQ(plan(task, Move::kAdopt, kNow).deaths, 1);
  EXPECT_EQ(plan(task, Move::kRelease, kNow).deaths, 0) << "a clean stop is no death";
  EXPECT_EQ(apply(task, plan(task, Move::kAdopt, kNow)).start, StartMark::kAsked);
}

TEST(Transition, RetryNowDoesNotWait) {
  Task task;
  task.due_at = kNow + 300s;

  EXPECT_EQ(plan(task, Move::kRetryNow, kNow).due_at, kNow);
}

Task dead_task() {
  Task task = running_task();
  task.deaths = 2;
  return apply(task, plan(task, Move::kGiveUp, kNow));
}

TEST(Transition, AReopenedTaskStartsANewEpisodeAtOnce) {
  const Task dead = dead_task();
  EXPECT_EQ(dead.ended_at, kNow);

  const Task task = apply(dead, plan_reopen(dead, kNow + 5s, std::nullopt).value());

  EXPECT_EQ(task.state, State::kPending);
  EXPECT_EQ(task.due_at, kNow + 5s);
  EXPECT_EQ(task.retries, 0);
  EXPECT_EQ(task.deaths, 0);
  EXPECT_EQ(task.ended_at, std::nullopt);
}

TEST(Transition, AReopenedTaskNeedsADeadlineThatHasNotPassed) {
  Task dead = dead_task();
  dead.spec.deadline = kNow;

  EXPECT_EQ(plan_reopen(dead, kNow, std::nullopt).error().code, ErrorCode::kInvalid);
  EXPECT_EQ(plan_reopen(dead, kNow, kNow - 1s).error().code, ErrorCode::kInvalid);

  const Transition reopen = plan_reopen(dead, kNow, kNow + 60s).value();
  EXPECT_EQ(apply(dead, reopen).spec.deadline, kNow + 60s);
}

TEST(Transition, OnlyWhatWaitsForAPersonIsReopened) {
  EXPECT_EQ(plan_reopen(running_task(), kNow, std::nullopt).error().code, ErrorCode::kConflict);
}

TEST(Transition, WhatTheTableForbidsStopsTheProcess) {
  const Task pending;

  EXPECT_DEATH((void)plan(pending, Move::kSucceed, kNow), "only moves of the state table");
}

TEST(Transition, AnotherRowsTransitionStopsTheProcess) {
  const Task before = running_task();
  const Transition late = plan(before, Move::kSucceed, kNow);
  Task taken_over = apply(before, plan(before, Move::kAdopt, kNow));
  taken_over = apply(taken_over, some_claim(2));

  EXPECT_DEATH((void)apply(taken_over, late), "the row it was decided for");
}

TEST(Transition, WhatIsLentKeepsItsTicketAndHasAnotherOwner) {
  const Task before = running_task();

  const Task lent =
      apply(before, plan_lending(before, {.worker = WorkerName("w"), .lease_for = 30s}, kNow));

  EXPECT_EQ(lent.ticket, before.ticket) << "so that whoever has it can report";
  EXPECT_EQ(lent.owner, Owner(WorkerName("w")));
  EXPECT_EQ(lent.lease_end, kNow + 30s);
  EXPECT_EQ(lent.attempts, before.attempts) << "it has not ended";
  const Task taken = apply(lent, some_claim(2));
  EXPECT_EQ(taken.deaths, before.deaths + 1) << "who never reports may have died of it";
}

RC_GTEST_PROP(Transition, EveryStepRaisesTheFenceByOneAndOnlyRunningHasAnOwner, ()) {
  Task task;
  for (const Move move : *rc::gen::container<std::vector<Move>>(rc::gen::elementOf(kAllMoves))) {
    if (!next_state(task.state, move)) continue;
    const Fence before = task.ticket.fence;
    if (move == Move::kLend) continue;

    const bool claims = move == Move::kClaim || move == Move::kTakeOver;
    Claim leased = some_claim(1);
    leased.lease_end = kNow + 30s;
    task = claims ? apply(task, leased) : apply(task, plan(task, move, kNow));

    RC_ASSERT(task.ticket.fence == next(before));
    RC_ASSERT(task.owner.has_value() == (task.state == State::kRunning));
    RC_ASSERT(task.ended_at.has_value() == (is_finished(task.state) || needs_person(task.state)));
  }
}

TEST(Transition, AWorkersLeaseBeginsWithItsClaimAndEndsWithTheOutcome) {
  Claim claim = some_claim(1);
  claim.lease_end = TimePoint(130s);
  const Task leased = apply(Task{}, claim);

  const Task released = apply(leased, plan(leased, Move::kRelease, kNow));

  EXPECT_EQ(leased.lease_end, TimePoint(130s));
  EXPECT_EQ(released.lease_end, std::nullopt);
}

TEST(Transition, RetryNowChangesNothingButTheTime) {
  Task task;
  task.due_at = TimePoint(500s);
  task.retries = 2;
  task.last_error = Reason{"TIMEOUT", "no answer within 10s"};

  const Task after = apply(task, plan(task, Move::kRetryNow, kNow));

  EXPECT_EQ(after.due_at, kNow);
  EXPECT_EQ(after.retries, 2);
  EXPECT_EQ(after.last_error, task.last_error);
}

TEST(Transition, AClaimWithoutAnOwnerStopsTheProcess) {
  const Task pending;

  EXPECT_DEATH((void)apply(pending, plan(pending, Move::kClaim, kNow)), "names its new owner");
}

TEST(Transition, AnotherTasksTransitionStopsTheProcess) {
  const Task task = running_task();
  Transition other = plan(task, Move::kSucceed, kNow);
  other.task.value.bytes.back() = 9;

  EXPECT_DEATH((void)apply(task, other), "the row it was decided for");
}

TEST(Transition, AnInventedStateStopsTheProcess) {
  const Task task = running_task();
  Transition invented = plan(task, Move::kSucceed, kNow);
  invented.to = State::kPending;

  EXPECT_DEATH((void)apply(task, invented), "only moves of the state table are applied");
}

}  // namespace
}  // namespace recourse::task

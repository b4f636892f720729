#include "task/control.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

namespace recourse::task {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;

const TimePoint kOrderedAt{100s};

Order order_of(Move move) { return {.move = move, .payload = std::nullopt, .deadline = {}}; }

Task task_in(State state) {
  Task task;
  task.state = state;
  task.ticket = {Fence(7), LeaseId()};
  task.spec.payload = "old";
  if (state == State::kRunning) task.owner = Owner(WorkerName("w"));
  return task;
}

TEST(Control, IsDoneAtOnceWhereNobodyOwnsTheTask) {
  const Controlled controlled =
      control(task_in(State::kPending), order_of(Move::kPause), kOrderedAt).value();

  EXPECT_EQ(controlled.effect, Effect::kDone);
  EXPECT_EQ(controlled.task.state, State::kPaused);
  EXPECT_EQ(controlled.task.ticket.fence, Fence(8));
}

TEST(Control, IsARequestWhereSomebodyOwnsIt) {
  for (const Move move :
       {Move::kPause, Move::kCancel, Move::kResolve, Move::kIgnore, Move::kRetryNow}) {
    const Task before = task_in(State::kRunning);

    const Controlled controlled = control(before, order_of(move), kOrderedAt).value();

    EXPECT_EQ(controlled.effect, Effect::kRequested);
    EXPECT_EQ(controlled.task.requested, move);
    EXPECT_EQ(controlled.task.ticket, before.ticket)
        << "the owner's next write must not be refused";
    EXPECT_EQ(controlled.task.state, State::kRunning);
  }
}

TEST(Control, ARunningTaskIsNotResumedOrReopened) {
  for (const Move move : {Move::kResume, Move::kReopen}) {
    EXPECT_EQ(control(task_in(State::kRunning), order_of(move), kOrderedAt).error().code,
              ErrorCode::kConflict);
  }
}

TEST(Control, ThePayloadIsEditedOnlyWhereNobodyMayHaveReadIt) {
  const Order edit{.move = std::nullopt, .payload = "new", .deadline = {}};

  const Controlled edited = control(task_in(State::kDead), edit, kOrderedAt).value();
  EXPECT_EQ(edited.task.spec.payload, "new");
  EXPECT_EQ(edited.task.state, State::kDead);
  EXPECT_EQ(edited.task.ticket.fence, Fence(8)) << "who decided by the old one is refused";

  const Result<Controlled> refused = control(task_in(State::kRunning), edit, kOrderedAt);
  EXPECT_THAT(refused.error().message, HasSubstr("pause it first"));
}

TEST(Control, AnEditAndARetryAreOneStep) {
  const Order order{.move = Move::kReopen, .payload = "new", .deadline = {}};

  const Task task = control(task_in(State::kFailed), order, kOrderedAt).value().task;

  EXPECT_EQ(task.spec.payload, "new");
  EXPECT_EQ(task.state, State::kPending);
  EXPECT_EQ(task.episode, 2);
}

TEST(Control, FinishedWorkIsLeftAlone) {
  for (const State state : kAllStates) {
    if (!is_finished(state)) continue;
    EXPECT_THAT(control(task_in(state), order_of(Move::kReopen), kOrderedAt).error().message,
                HasSubstr("it is finished"));
  }
}

TEST(Control, OrdersThatCanNeverWorkAreRefused) {
  EXPECT_THAT(validate(Order{}).error().message, HasSubstr("order.move"));
  EXPECT_THAT(validate(order_of(Move::kSucceed)).error().message, HasSubstr("must be pause"));
  Order order = order_of(Move::kPause);
  order.deadline = kOrderedAt;
  EXPECT_THAT(validate(order).error().message, HasSubstr("only be given with reopen"));
  order = order_of(Move::kReopen);
  order.payload = std::string(kPayloadBytesMax + 1, 'x');
  EXPECT_THAT(validate(order).error().message, HasSubstr("payload (bytes)"));
}

// --- carrying a request out ---

Transition outcome(Move move) {
  Transition change = plan(task_in(State::kRunning), move, kOrderedAt);
  change.due_at = kOrderedAt + 1h;
  change.error = Reason{"HTTP_503", "busy"};
  return change;
}

TEST(CarryOut, NothingChangesWithoutARequest) {
  EXPECT_EQ(carry_out(outcome(Move::kRetry), std::nullopt), outcome(Move::kRetry));
}

TEST(CarryOut, ASuccessStands) {
  for (const Move wish : {Move::kCancel, Move::kPause, Move::kResolve, Move::kRetryNow}) {
    EXPECT_EQ(carry_out(outcome(Move::kSucceed), wish).to, State::kSucceeded);
  }
}

TEST(CarryOut, WhoWantsItEndedGetsItInsteadOfARetryOrADeadLetter) {
  for (const Move end :
       {Move::kRetry, Move::kRetryHere, Move::kRelease, Move::kGiveUp, Move::kFail}) {
    const Transition change = carry_out(outcome(end), Move::kCancel);

    EXPECT_EQ(change.move, Move::kCancel);
    EXPECT_EQ(change.to, State::kCancelled);
    EXPECT_EQ(change.error, outcome(end).error) << "why it failed last is kept";
  }
}

TEST(CarryOut, APauseHoldsARetryBackButRunsNothingOnceTooOften) {
  EXPECT_EQ(carry_out(outcome(Move::kRetryHere), Move::kPause).to, State::kPaused);
  EXPECT_EQ(carry_out(outcome(Move::kGiveUp), Move::kPause).to, State::kDead);
}

TEST(CarryOut, RetryNowDoesNotWait) {
  EXPECT_EQ(carry_out(outcome(Move::kRetry), Move::kRetryNow).due_at, kOrderedAt);
  EXPECT_EQ(carry_out(outcome(Move::kGiveUp), Move::kRetryNow).to, State::kDead);
}

TEST(CarryOut, WhatIsLentGoesOnUntilItIsReportedOn) {
  Transition lending = outcome(Move::kLend);
  lending.lending = {.worker = WorkerName("w"), .lease_for = 30s};

  for (const Move wish : {Move::kCancel, Move::kPause, Move::kRetryNow}) {
    EXPECT_EQ(carry_out(lending, wish), lending);
  }
}

TEST(CarryOut, OnlyEverMovesOfTheTable) {
  for (const Edge& edge : kEdges) {
    for (const Move wish : kAllMoves) {
      if (!is_control(wish) || edge.move == Move::kClaim || edge.move == Move::kTakeOver) continue;
      Transition change;
      change.from = edge.from;
      change.move = edge.move;
      change.to = edge.to;

      const Transition carried = carry_out(change, wish);

      EXPECT_EQ(next_state(carried.from, carried.move), carried.to);
    }
  }
}

// --- adoption ---

TEST(Adoption, EndsTheLeaseSoThatTheDeadOwnerIsRefused) {
  Task orphan = task_in(State::kRunning);
  orphan.ticket.lease.value.bytes.fill(1);

  const Task adopted = apply(orphan, plan_adoption(orphan, kOrderedAt));

  EXPECT_EQ(adopted.state, State::kPending);
  EXPECT_EQ(judge_write(adopted.ticket, orphan.ticket), WriteVerdict::kRefused);
}

TEST(Adoption, CarriesOutWhatWasAskedOfTheDeadOwnerAndStillRefusesIt) {
  Task orphan = task_in(State::kRunning);
  orphan.ticket.lease.value.bytes.fill(1);
  orphan.requested = Move::kPause;

  const Task adopted = apply(orphan, plan_adoption(orphan, kOrderedAt));

  EXPECT_EQ(adopted.state, State::kPaused);
  EXPECT_FALSE(adopted.requested);
  EXPECT_EQ(judge_write(adopted.ticket, orphan.ticket), WriteVerdict::kRefused);
}

TEST(Adoption, TheThirdDeathAfterARecordedStartIsTheLast) {
  Task orphan = task_in(State::kRunning);
  orphan.start = StartMark::kRecorded;
  orphan.deaths = kDeathsMax - 1;
  orphan.last_error = Reason{"IO", "reset by peer"};

  const Task adopted = apply(orphan, plan_adoption(orphan, kOrderedAt));

  EXPECT_EQ(adopted.state, State::kDead);
  EXPECT_EQ(adopted.last_error->code, kOwnersDied);
  EXPECT_THAT(adopted.last_error->message, HasSubstr("reset by peer"));
}

TEST(Adoption, DeathsWithoutARecordedStartAreNotCounted) {
  Task orphan = task_in(State::kRunning);
  orphan.deaths = kDeathsMax - 1;

  EXPECT_EQ(apply(orphan, plan_adoption(orphan, kOrderedAt)).state, State::kPending);
}

TEST(TakeOver, IsRunUnlessAPersonOrThreeDeathsSayOtherwise) {
  Task taken = task_in(State::kRunning);
  EXPECT_FALSE(plan_instead_of_run(taken, kOrderedAt));

  taken.requested = Move::kCancel;
  EXPECT_EQ(plan_instead_of_run(taken, kOrderedAt)->to, State::kCancelled);

  taken.requested.reset();
  taken.deaths = kDeathsMax;
  EXPECT_EQ(plan_instead_of_run(taken, kOrderedAt)->to, State::kDead);
}

TEST(Owner, ReadsBackFromItsName) {
  Ulid id;
  id.bytes.fill(3);
  for (const Owner& owner : {Owner(Incarnation(id)), Owner(WorkerName("billing:eu 1"))}) {
    EXPECT_EQ(parse_owner(to_string(owner)).value(), owner);
  }
  EXPECT_FALSE(parse_owner("tsk_01J00000000000000000000000"));
}

}  // namespace
}  // namespace recourse::task

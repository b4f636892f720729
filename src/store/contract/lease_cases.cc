// Work leased to workers outside: a lease of its own, renewed, ended, taken over.
#include <algorithm>

#include "store/contract/contract.h"

namespace recourse::store::contract {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

TEST_P(StoreContract, AWorkersLeaseEndsByTheStoresClock) {
  submit();
  ClaimRequest request =
      claim_request(Owner(WorkerName("w")), new_lease(), {{.kind = Kind("mail"), .limit = 1}}, 1);
  request.lease_for = 90s;
  const TimePoint before = store_now();

  const Claimed claimed = must(store().claim(request, kWithin));

  EXPECT_EQ(claimed.tasks.at(0).owner, Owner(WorkerName("w")));
  EXPECT_GE(claimed.tasks.at(0).lease_end, before + 90s);
  EXPECT_LE(claimed.tasks.at(0).lease_end, store_now() + 90s);
  EXPECT_EQ(row(claimed.tasks.at(0).id), claimed.tasks.at(0));
}

TEST_P(StoreContract, NobodyTakesWhatAWorkerHolds) {
  submit();
  EXPECT_THAT(lease("w", kHour), SizeIs(1));

  EXPECT_THAT(lease("v", kHour), IsEmpty());
  EXPECT_THAT(claim(1), IsEmpty());
}

TEST_P(StoreContract, AnEndedLeaseIsTakenOverUnderAHigherFence) {
  submit();
  const Task first = lease("w", kInstant).at(0);

  const Task second = lease("v", kHour).at(0);

  EXPECT_EQ(second.id, first.id);
  EXPECT_EQ(second.ticket.fence, task::next(first.ticket.fence));
  EXPECT_NE(second.ticket.lease, first.ticket.lease);
  EXPECT_EQ(second.owner, Owner(WorkerName("v")));
  EXPECT_EQ(row(first.id), second);
}

TEST_P(StoreContract, ANodeTakesOverAnEndedLease) {
  submit();
  const Task first = lease("w", kInstant).at(0);

  const Task second = claim_one();

  EXPECT_EQ(second.id, first.id);
  EXPECT_EQ(second.lease_end, std::nullopt) << "a node's leases end with it";
  EXPECT_EQ(count_of(State::kRunning), 1);
}

TEST_P(StoreContract, AWorkerWhoseLeaseWasTakenOverIsRefused) {
  submit();
  const Task first = lease("w", kInstant).at(0);
  const Task second = lease("v", kHour).at(0);

  const Applied late = settle(first, Move::kSucceed);

  EXPECT_EQ(late.verdict, WriteVerdict::kRefused);
  EXPECT_EQ(row(first.id), second);
}

TEST_P(StoreContract, AWorkerMayFinishAfterItsLeaseWhileNobodyTookIt) {
  submit();
  const Task task = lease("w", kInstant).at(0);

  EXPECT_EQ(settle(task, Move::kSucceed).verdict, WriteVerdict::kApply);
}

TEST_P(StoreContract, ATakeoverLeavesAnAuditRow) {
  submit();
  const Task first = lease("w", kInstant).at(0);
  lease("v", kHour);

  EXPECT_THAT(actions_on(first.id), ElementsAre("take_over"));
}

TEST_P(StoreContract, ATakeoverAfterARecordedStartIsADeath) {
  submit();
  const Task first = lease("w", kInstant).at(0);
  EXPECT_THAT(must(store().record_starts(std::vector{held(first)}, kWithin)), ElementsAre(true));

  const Task second = lease("v", kInstant).at(0);
  const Task third = lease("u", kHour).at(0);

  EXPECT_EQ(second.deaths, 1);
  EXPECT_EQ(second.start, task::StartMark::kAsked);
  EXPECT_EQ(third.deaths, 1) << "no start was recorded the second time";
}

TEST_P(StoreContract, RenewingMovesTheEndAndNothingElse) {
  submit();
  const Task task = lease("w", kInstant).at(0);
  const TimePoint before = store_now();

  const auto ends = must(store().renew(std::vector{held(task)}, kHour, kWithin));

  EXPECT_GE(ends.at(0), before + kHour);
  EXPECT_LE(ends.at(0).value_or(kNever), store_now() + kHour);
  Task expected = task;
  expected.lease_end = ends.at(0);
  EXPECT_EQ(row(task.id), expected);
  EXPECT_THAT(claim(1), IsEmpty());
}

TEST_P(StoreContract, ARenewedTicketStillWrites) {
  submit();
  const Task task = lease("w", 1min).at(0);
  (void)must(store().renew(std::vector{held(task)}, kHour, kWithin));

  EXPECT_EQ(settle(task, Move::kSucceed).verdict, WriteVerdict::kApply);
}

TEST_P(StoreContract, RenewingUnderAWrongTicketAnswersEmpty) {
  submit();
  const Task task = lease("w", kHour).at(0);
  Held wrong_lease = held(task);
  wrong_lease.ticket.lease = new_lease();
  Held wrong_fence = held(task);
  wrong_fence.ticket.fence = task::next(task.ticket.fence);
  const Held unknown{.task = new_id(), .ticket = task.ticket};

  for (const Held& wrong : {wrong_lease, wrong_fence, unknown}) {
    EXPECT_THAT(must(store().renew(std::vector{wrong}, 2h, kWithin)), ElementsAre(std::nullopt));
  }
  EXPECT_EQ(row(task.id), task);
}

TEST_P(StoreContract, RenewalsAnswerEachTaskInTheOrderGiven) {
  submit_many(3);
  const std::vector<Task> tasks = lease("w", kHour, 3);
  settle(tasks.at(1), Move::kSucceed);

  const auto ends = must(store().renew(
      std::vector{held(tasks.at(2)), held(tasks.at(1)), held(tasks.at(0))}, 2h, kWithin));

  EXPECT_EQ(ends.at(0), row(tasks.at(2).id).lease_end);
  EXPECT_EQ(ends.at(1), std::nullopt);
  EXPECT_EQ(ends.at(2), row(tasks.at(0).id).lease_end);
}

TEST_P(StoreContract, AnEndedLeaseThatWasTakenOverIsNotRenewed) {
  submit();
  const Task first = lease("w", kInstant).at(0);
  const Task second = lease("v", kHour).at(0);

  EXPECT_THAT(must(store().renew(std::vector{held(first)}, 2h, kWithin)),
              ElementsAre(std::nullopt));
  EXPECT_EQ(row(first.id), second);
}

TEST_P(StoreContract, RenewingGivesNoEndToANodesTask) {
  const Task task = running();

  EXPECT_THAT(must(store().renew(std::vector{held(task)}, kInstant, kWithin)),
              ElementsAre(std::nullopt));
  EXPECT_EQ(row(task.id), task) << "it could be taken from a live node otherwise";
}

TEST_P(StoreContract, AWorkersStickyRetryKeepsItsLease) {
  submit();
  const Task task = lease("w", kHour).at(0);

  settle(task, Move::kRetryHere);

  EXPECT_EQ(row(task.id).lease_end, task.lease_end);
  EXPECT_THAT(claim(1), IsEmpty());
}

// Decided long ago: the lease begins when it is written.
Transition lending(const Task& task, Duration lease_for = kHour) {
  return task::plan_lending(task, {.worker = WorkerName("called"), .lease_for = lease_for},
                            task.created_at);
}

TEST_P(StoreContract, WhatIsLentIsReportedOnUnderTheSameTicket) {
  const Task task = running();
  const TimePoint before = store_now();

  EXPECT_EQ(apply_one(lending(task)).verdict, WriteVerdict::kApply);

  const Task lent = row(task.id);
  EXPECT_EQ(lent.ticket, task.ticket);
  EXPECT_EQ(lent.owner, Owner(WorkerName("called")));
  EXPECT_GE(lent.lease_end, before + kHour);
  EXPECT_LE(lent.lease_end, store_now() + kHour);
  EXPECT_THAT(claim(1), IsEmpty());
  EXPECT_THAT(must(store().renew(std::vector{held(task)}, 2h, kWithin)),
              ElementsAre(testing::Ne(std::nullopt)));
  EXPECT_EQ(settle(task, Move::kSucceed).verdict, WriteVerdict::kApply);
  EXPECT_EQ(row(task.id).state, State::kSucceeded);
}

TEST_P(StoreContract, LendingTwiceIsLendingOnce) {
  const Task task = running();
  apply_one(lending(task));
  (void)must(store().renew(std::vector{held(task)}, 2h, kWithin));
  const Task renewed = row(task.id);

  EXPECT_EQ(apply_one(lending(task)).verdict, WriteVerdict::kAlreadyApplied);

  EXPECT_EQ(row(task.id), renewed) << "a late repetition takes no time away";
}

TEST_P(StoreContract, WhatWasReportedBeforeItWasLentIsNotLent) {
  const Task task = running();
  settle(task, Move::kSucceed);

  EXPECT_EQ(apply_one(lending(task)).verdict, WriteVerdict::kAlreadyApplied);

  EXPECT_EQ(row(task.id).state, State::kSucceeded);
}

TEST_P(StoreContract, WhatADeadNodeLendsTooLateIsRefused) {
  const Incarnation mortal = join();
  const Task task = running(spec_of(), mortal);
  kill(mortal);
  EXPECT_EQ(adopt_all(), 1U);
  const Task adopted = row(task.id);

  EXPECT_EQ(apply_one(lending(task)).verdict, WriteVerdict::kRefused);

  EXPECT_EQ(row(task.id), adopted);
}

TEST_P(StoreContract, WhoIsLentTasksAndNeverReportsCostsThemALife) {
  const Task task = running();
  apply_one(lending(task, kInstant));

  const Task taken = claim_one();

  EXPECT_EQ(taken.id, task.id);
  EXPECT_EQ(taken.ticket.fence, task::next(task.ticket.fence));
  EXPECT_EQ(taken.deaths, 1);
  EXPECT_EQ(settle(task, Move::kSucceed).verdict, WriteVerdict::kRefused) << "too late";
}

TEST_P(StoreContract, WhatIsToBeCancelledIsLentAndCancelledByItsReport) {
  const Task task = running();
  EXPECT_EQ(must(control(task.id, Move::kCancel)), Effect::kRequested);

  EXPECT_EQ(apply_one(lending(task)).state, State::kRunning) << "somebody will report on it";

  EXPECT_EQ(row(task.id).requested, Move::kCancel);
  EXPECT_EQ(settle(task, Move::kRetry).state, State::kCancelled);
}

TEST_P(StoreContract, WhoLendsSaysToWhom) {
  const Task task = running();
  Transition nobody = lending(task);
  nobody.lending->worker = WorkerName("");
  Transition unsaid = lending(task);
  unsaid.lending.reset();

  for (const Transition& bad : {nobody, unsaid}) {
    const std::vector<Outcome> batch{{.transition = bad, .attempt = std::nullopt}};
    EXPECT_EQ(code_of(store().apply(batch, kWithin)), ErrorCode::kInvalid);
  }
  EXPECT_EQ(row(task.id), task);
}

TEST_P(StoreContract, ARecordedStartRaisesNoFence) {
  const Task task = running();

  EXPECT_THAT(must(store().record_starts(std::vector{held(task)}, kWithin)), ElementsAre(true));

  Task expected = task;
  expected.start = task::StartMark::kRecorded;
  EXPECT_EQ(row(task.id), expected);
  EXPECT_EQ(settle(expected, Move::kSucceed).verdict, WriteVerdict::kApply);
}

TEST_P(StoreContract, ALeaseThatIsOverAtOnceIsNotTakenOverByTheClaimThatGaveIt) {
  // As many as go by priority, so that the tenth for the oldest has room and nothing else to take.
  const std::vector<TaskId> ids = submit_many(90);

  std::vector<TaskId> leased = ids_of(lease("w", kInstant, 100));

  std::ranges::sort(leased);
  EXPECT_EQ(leased, ids);
}

TEST_P(StoreContract, AStartIsNotRecordedForWhoHasLostTheTask) {
  const Incarnation mortal = join();
  const Task lost = running(spec_of(), mortal);
  const Task mine = running();
  kill(mortal);
  adopt_all();
  const Task before = row(lost.id);

  EXPECT_THAT(must(store().record_starts(std::vector{held(lost), held(mine)}, kWithin)),
              ElementsAre(false, true));
  EXPECT_EQ(row(lost.id), before);
}

}  // namespace
}  // namespace recourse::store::contract

// Adoption: what a dead node left is free again, and nothing else is.
#include "store/contract/contract.h"

namespace recourse::store::contract {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::Not;
using testing::SizeIs;

TEST_P(StoreContract, ADeadNodesTasksAreFreeAgain) {
  const Incarnation mortal = join();
  const Task task = running(spec_of(), mortal);
  kill(mortal);

  EXPECT_EQ(adopt_all(), 1U);

  const Task expected = task::apply(task, plan_adoption(task, store_now()));
  EXPECT_EQ(row(task.id), expected);
  EXPECT_EQ(expected.ticket, (task::Ticket{task::Fence(2), LeaseId()}));
  EXPECT_THAT(actions_on(task.id), ElementsAre("adopt"));
  EXPECT_EQ(claim_one().ticket.fence, task::Fence(3));
}

TEST_P(StoreContract, ALiveNodesTasksAreNeverAdopted) {
  const Task task = running();
  const Incarnation mortal = join();
  kill(mortal);

  EXPECT_EQ(adopt_all(), 0U);

  EXPECT_EQ(row(task.id), task);
}

TEST_P(StoreContract, NothingIsAdoptedOfANodeThatHasBeatenSince) {
  const Incarnation other = join();
  const Task task = running(spec_of(), other);
  const std::int64_t seen = node_row(other).beat;
  (void)must(store().heartbeat(other, 0, kWithin));
  EXPECT_FALSE(must(store().declare_dead(other, seen, "first", kWithin)));

  EXPECT_EQ(adopt_all(), 0U);
  EXPECT_EQ(row(task.id), task);
}

TEST_P(StoreContract, TasksOfANodeThatNeverJoinedAreAdopted) {
  const Task task = running(spec_of(), Incarnation(new_ulid()));

  EXPECT_EQ(adopt_all(), 1U);
  EXPECT_EQ(row(task.id).state, State::kPending);
}

TEST_P(StoreContract, AWorkersTaskIsLeftToItsLease) {
  submit();
  const Task task = lease("w", kInstant).at(0);

  EXPECT_EQ(adopt_all(), 0U);
  EXPECT_EQ(row(task.id), task);
}

TEST_P(StoreContract, AdoptingTwiceFreesOnce) {
  const Incarnation mortal = join();
  const Task task = running(spec_of(), mortal);
  kill(mortal);

  EXPECT_EQ(adopt_all(), 1U);
  EXPECT_EQ(adopt_all(), 0U);
  EXPECT_EQ(row(task.id).ticket.fence, task::Fence(2));
}

TEST_P(StoreContract, WhatADeadNodeCommitsLateIsSweptUpToo) {
  const Incarnation mortal = join();
  kill(mortal);
  adopt_all();

  const Task inserted = running(spec_of(), mortal);
  const TaskId due = submit();
  EXPECT_THAT(ids_of(claim_by(Owner(mortal), 1)), ElementsAre(due));

  EXPECT_EQ(adopt_all(), 2U);
  EXPECT_EQ(row(inserted.id).state, State::kPending);
  EXPECT_EQ(row(due).state, State::kPending);
}

TEST_P(StoreContract, AStickyRetryOfADeadNodeWaitsForItsTimeAfterAdoption) {
  const Incarnation mortal = join();
  const Task task = running(spec_of(), mortal);
  Transition sticky = plan(task, Move::kRetryHere, store_now());
  sticky.due_at = sticky.at + kHour;
  sticky.retries = 2;
  apply_one(sticky);
  kill(mortal);
  adopt_all();

  EXPECT_EQ(row(task.id).due_at, sticky.due_at);
  EXPECT_EQ(row(task.id).retries, 2);
  EXPECT_THAT(claim(1), IsEmpty());
}

TEST_P(StoreContract, AdoptionIsBoundedAndGoesOn) {
  const Incarnation mortal = join();
  submit_many(1'200);
  for (int i = 0; i < 3; ++i) EXPECT_THAT(claim_by(Owner(mortal), 400), SizeIs(400));
  kill(mortal);

  const Adopted first = must(store().adopt("first", kWithin));
  EXPECT_LE(first.tasks, kBatchRowsMax);
  EXPECT_GT(first.tasks, 0U);
  EXPECT_TRUE(first.more);

  EXPECT_EQ(first.tasks + adopt_all(), 1'200U);
  EXPECT_EQ(count_of(State::kPending), 1'200);
}

TEST_P(StoreContract, SeveralDeadNodesAreAdoptedOneLikeAnother) {
  std::vector<Task> tasks;
  for (int i = 0; i < 5; ++i) {
    const Incarnation mortal = join();
    tasks.push_back(running(spec_of(), mortal));
    kill(mortal);
  }

  EXPECT_EQ(adopt_all(), 5U);
  for (const Task& task : tasks) EXPECT_EQ(row(task.id).state, State::kPending);
}

TEST_P(StoreContract, ADeathBeforeARecordedStartIsNotCounted) {
  TaskId id;
  for (int i = 0; i < 5; ++i) {
    const Incarnation mortal = join();
    id = i == 0 ? running(spec_of(), mortal).id : claim_by(Owner(mortal), 1).at(0).id;
    kill(mortal);
    adopt_all();
  }

  EXPECT_EQ(row(id).state, State::kPending);
  EXPECT_EQ(row(id).deaths, 0);
}

TEST_P(StoreContract, TheThirdDeathAfterARecordedStartEndsTheTask) {
  const TaskId id = submit();
  for (int death = 1; death <= task::kDeathsMax; ++death) {
    const Incarnation mortal = join();
    const Task task = claim_by(Owner(mortal), 1).at(0);
    EXPECT_THAT(must(store().record_starts(std::vector{held(task)}, kWithin)), ElementsAre(true));
    kill(mortal);
    EXPECT_EQ(adopt_all(), 1U);
    EXPECT_EQ(row(id).deaths, death);
  }

  const Task ended = row(id);
  EXPECT_EQ(ended.state, State::kDead);
  EXPECT_EQ(ended.last_error.value_or(task::Reason{}).code, task::kOwnersDied);
  EXPECT_EQ(ended.attempts, 0) << "an owner's death uses up no attempt";
  EXPECT_THAT(claim(1), IsEmpty());
  EXPECT_EQ(count_of(State::kDead), 1);
}

TEST_P(StoreContract, TheEndByDeathsIsADeadLetterInTheAudit) {
  const TaskId id = submit();
  for (int death = 1; death <= task::kDeathsMax; ++death) {
    const Incarnation mortal = join();
    const Task task = claim_by(Owner(mortal), 1).at(0);
    (void)must(store().record_starts(std::vector{held(task)}, kWithin));
    kill(mortal);
    adopt_all();
  }

  EXPECT_THAT(actions_on(id), ElementsAre("adopt", "adopt", "give_up"));
}

TEST_P(StoreContract, TheThirdWorkerThatDiesOfATaskEndsIt) {
  const TaskId id = submit();
  for (int death = 1; death <= task::kDeathsMax; ++death) {
    const Task task = lease("w", kInstant).at(0);
    (void)must(store().record_starts(std::vector{held(task)}, kWithin));
  }

  EXPECT_THAT(lease("next", kHour), IsEmpty()) << "it would kill this one too";

  EXPECT_EQ(row(id).state, State::kDead);
  EXPECT_EQ(row(id).last_error.value_or(task::Reason{}).code, task::kOwnersDied);
}

TEST_P(StoreContract, ACleanStopIsNoDeath) {
  const Task task = running();
  (void)must(store().record_starts(std::vector{held(task)}, kWithin));

  settle(row(task.id), Move::kRelease);

  EXPECT_EQ(row(task.id).deaths, 0);
  EXPECT_EQ(row(task.id).start, task::StartMark::kAsked);
  EXPECT_THAT(actions_on(task.id), Not(Contains("adopt")));
}

TEST_P(StoreContract, AnAdoptedTaskIsSeenByAnotherHandle) {
  const Incarnation mortal = join();
  const Task task = running(spec_of(), mortal);
  kill(mortal);

  EXPECT_EQ(must(other_store().adopt("second", kWithin)).tasks, 1U);

  EXPECT_EQ(claim_one().id, task.id);
}

}  // namespace
}  // namespace recourse::store::contract

// insert: each task exists once, whatever is repeated, and however its life went on meanwhile.
#include "store/contract/contract.h"

namespace recourse::store::contract {
namespace {

using testing::IsEmpty;
using testing::SizeIs;

TEST_P(StoreContract, ASubmittedTaskStandsAsItWasAskedFor) {
  const Submission item = pending(new_id(), spec_of());
  const TimePoint before = store_now();

  const InsertAnswer answer = insert({item});

  EXPECT_EQ(answer.items.at(0).result, Insertion::kInserted);
  EXPECT_FALSE(answer.items.at(0).still_mine) << "nobody owns what was not born claimed";
  const Task found = row(item.id);
  EXPECT_GE(found.created_at, before) << "by the store's clock, not by the id's";
  EXPECT_LE(found.created_at, store_now());
  Task expected;
  expected.id = item.id;
  expected.spec = item.spec;
  expected.created_at = found.created_at;
  expected.due_at = found.created_at;
  EXPECT_EQ(found, expected);
}

TEST_P(StoreContract, ADelayCountsFromTheStoresNow) {
  const Submission item = pending(new_id(), spec_of(), kHour);

  const TimePoint before = store_now();

  const InsertAnswer answer = insert({item});

  EXPECT_GE(answer.now, before);
  EXPECT_LE(answer.now, store_now());
  EXPECT_EQ(row(item.id).due_at, row(item.id).created_at + kHour);
}

TEST_P(StoreContract, AnswersToInsertComeInTheOrderGiven) {
  const TaskId holder = submit(keyed("k"));
  const TaskId first = new_id();
  const TaskId second = new_id();
  const TaskId third = new_id();

  const InsertAnswer answer = insert(
      {pending(third, spec_of()), pending(first, keyed("k")), pending(second, spec_of("sms"))});

  EXPECT_EQ(answer.items.at(0).task, third);
  EXPECT_EQ(answer.items.at(1).task, holder);
  EXPECT_EQ(answer.items.at(1).result, Insertion::kKeyTaken);
  EXPECT_EQ(answer.items.at(2).task, second);
  EXPECT_EQ(row(second).spec.kind, Kind("sms"));
}

TEST_P(StoreContract, ABornClaimedTaskIsTheSubmittersFromTheBeginning) {
  const Submission item = born();

  const InsertAnswer answer = insert({item});

  EXPECT_TRUE(answer.items.at(0).still_mine);
  const Task task = row(item.id);
  EXPECT_EQ(task.state, State::kRunning);
  EXPECT_EQ(task.ticket, (task::Ticket{task::Fence(1), item.claim->lease}));
  EXPECT_EQ(task.owner, Owner(node()));
  EXPECT_EQ(task.lease_end, std::nullopt);
  EXPECT_EQ(task.due_at, task.created_at);
  EXPECT_THAT(claim(10), IsEmpty());
}

TEST_P(StoreContract, ABornClaimedTaskIsFinishedUnderItsBirthTicket) {
  const Task task = running();

  const Applied applied = settle(task, Move::kSucceed);

  EXPECT_EQ(applied.verdict, WriteVerdict::kApply);
  EXPECT_EQ(row(task.id).ticket.fence, task::Fence(2));
}

TEST_P(StoreContract, ARepeatedInsertIsRecognisedWhileTheTaskWaits) {
  const Submission item = pending(new_id(), spec_of());
  insert({item});
  const Task before = row(item.id);

  const Inserted again = insert_one(item, Novelty::kRepeat);

  EXPECT_EQ(again.result, Insertion::kRepeated);
  EXPECT_EQ(again.task, item.id);
  EXPECT_FALSE(again.still_mine);
  EXPECT_EQ(row(item.id), before);
  EXPECT_THAT(listed(), SizeIs(1));
}

TEST_P(StoreContract, ARepeatThatCallsItselfFreshIsHarmlessWhileTheTaskLives) {
  const Submission item = pending(new_id(), keyed("k"));
  insert({item});

  const Inserted again = insert_one(item, Novelty::kFresh);

  EXPECT_EQ(again.result, Insertion::kRepeated);
  EXPECT_THAT(listed(), SizeIs(1));
}

TEST_P(StoreContract, ARepeatedInsertDoesNotTouchATaskThatRuns) {
  const Submission item = pending(new_id(), spec_of());
  insert({item});
  const Task task = claim_one();

  const Inserted again = insert_one(item, Novelty::kRepeat);

  EXPECT_EQ(again.result, Insertion::kRepeated);
  EXPECT_FALSE(again.still_mine);
  EXPECT_EQ(row(item.id), task);
}

TEST_P(StoreContract, ARepeatedInsertDoesNotBringBackAFinishedTask) {
  for (const Move move : {Move::kSucceed, Move::kCancel, Move::kResolve, Move::kIgnore}) {
    const Submission item = born();
    insert({item});
    settle(row(item.id), move);
    const Task before = row(item.id);

    const Inserted again = insert_one(item, Novelty::kRepeat);

    EXPECT_EQ(again.result, Insertion::kRepeated) << to_string(move);
    EXPECT_FALSE(again.still_mine);
    EXPECT_EQ(row(item.id), before);
  }
  EXPECT_THAT(claim(10), IsEmpty()) << "a lost reply must not make a task run again";
  EXPECT_THAT(listed(), SizeIs(4));
}

TEST_P(StoreContract, ARepeatedInsertLeavesADeadTaskToThePerson) {
  const Submission item = born();
  insert({item});
  settle(row(item.id), Move::kGiveUp);

  EXPECT_EQ(insert_one(item, Novelty::kRepeat).result, Insertion::kRepeated);
  EXPECT_EQ(row(item.id).state, State::kDead);
}

TEST_P(StoreContract, ARepeatedBirthIsStillMineWhileTheRowCarriesItsTicket) {
  const Submission item = born();
  insert({item});

  const Inserted again = insert_one(item, Novelty::kRepeat);

  EXPECT_EQ(again.result, Insertion::kRepeated);
  EXPECT_TRUE(again.still_mine);
}

TEST_P(StoreContract, ARepeatedBirthIsNotMineOnceIMovedItOn) {
  const Submission item = born();
  insert({item});
  settle(row(item.id), Move::kRetryHere);

  EXPECT_FALSE(insert_one(item, Novelty::kRepeat).still_mine)
      << "the next attempt is under way by a later fence";
}

TEST_P(StoreContract, ARepeatedBirthIsNotMineAfterMyTasksWereAdopted) {
  const Incarnation mortal = join();
  const Submission item = born(spec_of(), mortal);
  insert({item});
  kill(mortal);
  adopt_all();

  const Inserted again = insert_one(item, Novelty::kRepeat);

  EXPECT_EQ(again.result, Insertion::kRepeated);
  EXPECT_FALSE(again.still_mine);
  EXPECT_EQ(row(item.id).state, State::kPending);
}

TEST_P(StoreContract, ARepeatedBirthIsNotMineUnderAnotherLease) {
  Submission item = born();
  insert({item});
  item.claim->lease = new_lease();

  EXPECT_FALSE(insert_one(item, Novelty::kRepeat).still_mine);
}

TEST_P(StoreContract, ARepeatKeepsWhatWasSubmittedFirst) {
  Submission item = pending(new_id(), spec_of());
  item.spec.payload = "first";
  insert({item});
  item.spec.payload = "second";

  insert_one(item, Novelty::kRepeat);

  EXPECT_EQ(row(item.id).spec.payload, "first");
}

TEST_P(StoreContract, ABatchMayMixNewAndRepeatedTasks) {
  const Submission old = pending(new_id(), spec_of());
  insert({old});
  const Submission finished = born();
  insert({finished});
  settle(row(finished.id), Move::kSucceed);
  const Submission fresh = born();

  const InsertAnswer answer = insert({fresh, old, finished}, Novelty::kRepeat);

  EXPECT_EQ(answer.items.at(0).result, Insertion::kInserted);
  EXPECT_TRUE(answer.items.at(0).still_mine);
  EXPECT_EQ(answer.items.at(1).result, Insertion::kRepeated);
  EXPECT_EQ(answer.items.at(2).result, Insertion::kRepeated);
  EXPECT_EQ(count_of(State::kRunning), 1);
  EXPECT_EQ(count_of(State::kPending), 1);
}

TEST_P(StoreContract, ADuplicateIdInOneInsertIsRefusedWhole) {
  const TaskId twice = new_id();
  const std::vector<Submission> batch{pending(new_id(), spec_of()), pending(twice, spec_of()),
                                      pending(twice, spec_of("sms"))};

  EXPECT_EQ(code_of(store().insert(batch, Novelty::kFresh, kWithin)), ErrorCode::kInvalid);
  EXPECT_THAT(listed(), IsEmpty());
}

TEST_P(StoreContract, OneInvalidSpecRefusesTheBatchWhole) {
  TaskSpec bad = spec_of();
  bad.priority = 11;
  const std::vector<Submission> batch{pending(new_id(), keyed("k")), pending(new_id(), bad)};

  EXPECT_EQ(code_of(store().insert(batch, Novelty::kFresh, kWithin)), ErrorCode::kInvalid);

  EXPECT_THAT(listed(), IsEmpty());
  EXPECT_EQ(insert_one(pending(new_id(), keyed("k"))).result, Insertion::kInserted)
      << "the key was not taken";
}

TEST_P(StoreContract, WhatIsBornClaimedIsDueAtOnce) {
  Submission item = born();
  item.delay = kHour;
  const std::vector<Submission> batch{item};

  EXPECT_EQ(code_of(store().insert(batch, Novelty::kFresh, kWithin)), ErrorCode::kInvalid);
}

TEST_P(StoreContract, ATaskOfOneHandleIsSeenByAnother) {
  const Submission item = pending(new_id(), spec_of());
  (void)must(other_store().insert(std::vector{item}, Novelty::kFresh, kWithin));

  EXPECT_EQ(claim_one().id, item.id);
}

}  // namespace
}  // namespace recourse::store::contract

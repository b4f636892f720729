// Unique keys: at most one unfinished task per (tenant, kind, key), byte for byte.
#include "store/contract/contract.h"

namespace recourse::store::contract {
namespace {

using testing::SizeIs;

TEST_P(StoreContract, TheSecondTaskWithAKeyIsToldTheFirst) {
  const TaskId first = submit(keyed("order-7"));

  const Inserted second = insert_one(pending(new_id(), keyed("order-7")));

  EXPECT_EQ(second.result, Insertion::kKeyTaken);
  EXPECT_EQ(second.task, first);
  EXPECT_FALSE(second.still_mine);
  EXPECT_THAT(listed(), SizeIs(1));
}

TEST_P(StoreContract, ABornClaimedTaskWhoseKeyIsTakenIsNotItsSubmitters) {
  const Task first = running(keyed("order-7"));

  const Inserted second = insert_one(born(keyed("order-7")));

  EXPECT_EQ(second.result, Insertion::kKeyTaken);
  EXPECT_FALSE(second.still_mine);
  EXPECT_EQ(row(first.id), first);
}

TEST_P(StoreContract, OfSeveralTasksWithOneKeyInABatchTheFirstExists) {
  const std::vector<Submission> batch{pending(new_id(), keyed("k")), pending(new_id(), keyed("k")),
                                      pending(new_id(), spec_of()), pending(new_id(), keyed("k"))};

  const InsertAnswer answer = insert(batch);

  EXPECT_EQ(answer.items.at(0).result, Insertion::kInserted);
  EXPECT_EQ(answer.items.at(1).result, Insertion::kKeyTaken);
  EXPECT_EQ(answer.items.at(1).task, batch[0].id);
  EXPECT_EQ(answer.items.at(2).result, Insertion::kInserted);
  EXPECT_EQ(answer.items.at(3).task, batch[0].id);
  EXPECT_THAT(listed(), SizeIs(2));
}

TEST_P(StoreContract, TheFirstInTheBatchHasTheKeyAlsoWhereIdsDescend) {
  const TaskId lesser = new_id();
  const TaskId greater = new_id();

  const InsertAnswer answer = insert({pending(greater, keyed("k")), pending(lesser, keyed("k"))});

  EXPECT_EQ(answer.items.at(0).result, Insertion::kInserted);
  EXPECT_EQ(answer.items.at(1).result, Insertion::kKeyTaken);
  EXPECT_EQ(answer.items.at(1).task, greater);
}

TEST_P(StoreContract, KeysAreOfATenantAndAKind) {
  TaskSpec other_tenant = keyed("k");
  other_tenant.tenant = Tenant("acme");

  submit(keyed("k"));
  submit(keyed("k", "sms"));
  submit(other_tenant);

  EXPECT_THAT(listed(), SizeIs(3));
}

TEST_P(StoreContract, ATaskWithoutAKeyHasNoRival) {
  submit(keyed(""));
  submit(keyed(""));
  EXPECT_THAT(listed(), SizeIs(2));
}

TEST_P(StoreContract, KeysThatOnlyLookAlikeAreDifferent) {
  const std::vector<std::string> keys{"cafe",
                                      "Cafe",
                                      "CAFE",
                                      "cafe ",
                                      " cafe",
                                      "cafe  ",
                                      "caf\xC3\xA9",   // one character, composed
                                      "cafe\xCC\x81",  // two, decomposed
                                      "stra\xC3\x9F"
                                      "e",
                                      "strasse",
                                      "\xEF\xBD\x83"
                                      "afe",  // a full-width c
                                      "0",
                                      "00",
                                      "1",
                                      "1.0",
                                      "%",
                                      "_"};
  for (const std::string& key : keys) submit(keyed(key));

  EXPECT_THAT(listed(), SizeIs(keys.size()));
  for (const std::string& key : keys) {
    const Inserted again = insert_one(pending(new_id(), keyed(key)));
    EXPECT_EQ(again.result, Insertion::kKeyTaken) << key;
    EXPECT_EQ(row(again.task).spec.unique_key.value, key);
  }
}

TEST_P(StoreContract, KindsAndTenantsThatOnlyLookAlikeAreDifferent) {
  submit(keyed("k", "mail"));
  submit(keyed("k", "Mail"));
  submit(keyed("k", "mail "));
  TaskSpec tenant = keyed("k");
  for (const char* name : {"acme", "Acme", "acme "}) {
    tenant.tenant = Tenant(name);
    submit(tenant);
  }

  EXPECT_THAT(listed(), SizeIs(6));
  EXPECT_THAT(claim(10, "Mail"), SizeIs(1));
  EXPECT_EQ(count_of(State::kPending, "mail "), 1);
}

TEST_P(StoreContract, LongKeysAreComparedToTheLastByte) {
  const std::string stem(task::kKeyBytesMax - 1, 'k');

  submit(keyed(stem + "a"));
  submit(keyed(stem + "b"));

  EXPECT_EQ(insert_one(pending(new_id(), keyed(stem + "b"))).result, Insertion::kKeyTaken);
}

TEST_P(StoreContract, AKeyIsFreeAgainOnceItsTaskIsFinished) {
  for (const State state :
       {State::kSucceeded, State::kCancelled, State::kResolved, State::kIgnored}) {
    in_state(state, keyed("k"));
    const Task next = in_state(State::kPending, keyed("k"));
    must(control(next.id, Move::kCancel));
  }
  EXPECT_THAT(listed(), SizeIs(8));
}

TEST_P(StoreContract, AKeyIsTakenUntilItsTaskIsFinished) {
  for (const State state :
       {State::kPending, State::kRunning, State::kPaused, State::kFailed, State::kDead}) {
    const std::string key(to_string(state));
    const Task holder = in_state(state, keyed(key));

    const Inserted second = insert_one(pending(new_id(), keyed(key)));

    EXPECT_EQ(second.result, Insertion::kKeyTaken) << key;
    EXPECT_EQ(second.task, holder.id);
  }
}

TEST_P(StoreContract, AKeyStaysTakenThroughRetriesAndAdoption) {
  const Incarnation mortal = join();
  const Task task = running(keyed("k"), mortal);
  settle(task, Move::kRetryHere);
  kill(mortal);
  adopt_all();

  EXPECT_EQ(insert_one(pending(new_id(), keyed("k"))).result, Insertion::kKeyTaken);
}

TEST_P(StoreContract, ARequestThatEndsATaskFreesItsKey) {
  const Task task = running(keyed("k"));
  must(control(task.id, Move::kCancel));
  EXPECT_EQ(insert_one(pending(new_id(), keyed("k"))).result, Insertion::kKeyTaken);

  settle(task, Move::kRetry);

  submit(keyed("k"));
}

TEST_P(StoreContract, ARepeatOfTheHolderIsNoRivalOfItself) {
  const Submission item = pending(new_id(), keyed("k"));
  insert({item});

  const Inserted again = insert_one(item, Novelty::kRepeat);

  EXPECT_EQ(again.result, Insertion::kRepeated);
  EXPECT_EQ(again.task, item.id);
}

TEST_P(StoreContract, ARepeatOfAFinishedTaskTakesNoKey) {
  const Submission item = born(keyed("k"));
  insert({item});
  settle(row(item.id), Move::kSucceed);

  EXPECT_EQ(insert_one(item, Novelty::kRepeat).result, Insertion::kRepeated);

  submit(keyed("k"));
}

TEST_P(StoreContract, ARepeatOfAFinishedTaskIsNotToldItsSuccessor) {
  const Submission item = born(keyed("k"));
  insert({item});
  settle(row(item.id), Move::kSucceed);
  const TaskId successor = submit(keyed("k"));

  const Inserted again = insert_one(item, Novelty::kRepeat);

  EXPECT_EQ(again.result, Insertion::kRepeated);
  EXPECT_EQ(again.task, item.id);
  EXPECT_EQ(insert_one(pending(new_id(), keyed("k"))).task, successor);
}

TEST_P(StoreContract, ALoserMayTryAgainOnceTheKeyIsFree) {
  const TaskId holder = submit(keyed("k"));
  const Submission loser = pending(new_id(), keyed("k"));
  EXPECT_EQ(insert_one(loser).result, Insertion::kKeyTaken);
  EXPECT_EQ(insert_one(loser, Novelty::kRepeat).result, Insertion::kKeyTaken);
  must(control(holder, Move::kCancel));

  EXPECT_EQ(insert_one(loser, Novelty::kRepeat).result, Insertion::kInserted);
}

TEST_P(StoreContract, ARepeatUnderAnotherKeyTakesNoKey) {
  const Submission item = pending(new_id(), keyed("k"));
  insert({item});

  EXPECT_EQ(insert_one(pending(item.id, keyed("stray")), Novelty::kRepeat).result,
            Insertion::kRepeated);

  EXPECT_EQ(insert_one(pending(new_id(), keyed("stray"))).result, Insertion::kInserted)
      << "nothing that exists has this key";
}

}  // namespace
}  // namespace recourse::store::contract

// Counts: kept by the writers, and never otherwise than the rows. That they equal the rows is
// checked after every case of the suite; here, what each verb does to them.
#include "store/contract/contract.h"

namespace recourse::store::contract {
namespace {

using testing::IsEmpty;

std::pair<Kind, State> mails(State state) { return {Kind("mail"), state}; }

TEST_P(StoreContract, AnEmptyStoreCountsNothing) {
  EXPECT_THAT(must(reader().counts(kWithin)), IsEmpty());
}

TEST_P(StoreContract, EveryStateIsCountedUnderItsKind) {
  Counts expected;
  for (const State state : task::kAllStates) {
    in_state(state, spec_of("mail"));
    in_state(state, spec_of("sms"));
    in_state(state, spec_of("sms"));
    expected[{Kind("mail"), state}] = 1;
    expected[{Kind("sms"), state}] = 2;
  }

  EXPECT_EQ(must(reader().counts(kWithin)), expected);
}

TEST_P(StoreContract, ALifeIsCountedStepByStep) {
  const TaskId id = submit();
  EXPECT_EQ(must(reader().counts(kWithin)), (Counts{{mails(State::kPending), 1}}));

  Task task = claim_one();
  EXPECT_EQ(must(reader().counts(kWithin)), (Counts{{mails(State::kRunning), 1}}));

  settle(task, Move::kRetryHere);
  EXPECT_EQ(must(reader().counts(kWithin)), (Counts{{mails(State::kRunning), 1}}));

  settle(row(id), Move::kGiveUp);
  EXPECT_EQ(must(reader().counts(kWithin)), (Counts{{mails(State::kDead), 1}}));

  must(control(id, Move::kReopen));
  EXPECT_EQ(must(reader().counts(kWithin)), (Counts{{mails(State::kPending), 1}}));

  settle(claim_one(), Move::kSucceed);
  EXPECT_EQ(must(reader().counts(kWithin)), (Counts{{mails(State::kSucceeded), 1}}));
}

TEST_P(StoreContract, CountsThatFellToZeroAreLeftOut) {
  in_state(State::kDead);
  PurgeRequest request;
  request.states = {State::kDead};
  request.ended_before = store_now() + kHour;
  request.by = "alice";
  (void)must(store().purge(request, kWithin));

  EXPECT_THAT(must(reader().counts(kWithin)), IsEmpty());
}

TEST_P(StoreContract, RepeatsAndRefusalsAreNotCounted) {
  const Submission item = born();
  insert({item});
  insert({item}, Novelty::kRepeat);
  const Task task = row(item.id);
  const Transition retry = plan(task, Move::kRetry, store_now());
  apply_one(retry);
  apply_one(retry);
  Task stranger = task;
  stranger.ticket.lease = new_lease();
  settle(stranger, Move::kSucceed);

  EXPECT_EQ(must(reader().counts(kWithin)), (Counts{{mails(State::kPending), 1}}));
}

TEST_P(StoreContract, ALoserOfAKeyIsNotCounted) {
  submit(keyed("k"));
  insert({pending(new_id(), keyed("k")), born(keyed("k"))});

  EXPECT_EQ(must(reader().counts(kWithin)), (Counts{{mails(State::kPending), 1}}));
}

TEST_P(StoreContract, ADeadNodesCountsAreNotLost) {
  const Incarnation mortal = join();
  submit_many(10);
  const std::vector<Task> tasks = claim_by(Owner(mortal), 10);
  for (std::size_t i = 0; i < 4; ++i) settle(tasks.at(i), Move::kSucceed);
  kill(mortal);
  adopt_all();

  EXPECT_EQ(must(reader().counts(kWithin)),
            (Counts{{mails(State::kPending), 6}, {mails(State::kSucceeded), 4}}));
}

TEST_P(StoreContract, CountsOfSeveralHandlesAddUp) {
  submit_many(5);
  std::vector<Submission> batch;
  for (int i = 0; i < 3; ++i) batch.push_back(pending(new_id(), spec_of()));
  (void)must(other_store().insert(batch, Novelty::kFresh, kWithin));

  EXPECT_EQ(count_of(State::kPending), 8);
}

TEST_P(StoreContract, ATakeoverCountsNothing) {
  submit();
  lease("w", kInstant);
  lease("v", kHour);

  EXPECT_EQ(must(reader().counts(kWithin)), (Counts{{mails(State::kRunning), 1}}));
}

}  // namespace
}  // namespace recourse::store::contract

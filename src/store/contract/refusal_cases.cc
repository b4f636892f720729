// A write of somebody who no longer owns the task changes no column; it leaves one audit row.
#include "store/contract/contract.h"

namespace recourse::store::contract {
namespace {

using testing::Contains;
using testing::IsEmpty;
using testing::Not;

// Every outcome that the task's former owner could come with.
constexpr Move kOutcomes[] = {Move::kRetry, Move::kRetryHere, Move::kRelease, Move::kSucceed,
                              Move::kFail,  Move::kGiveUp,    Move::kPause,   Move::kCancel};

Transition late_outcome(const Task& task, Move move, TimePoint now) {
  Transition outcome = plan(task, move, now);
  outcome.due_at = now + kHour;
  outcome.retries = task.retries + 7;
  outcome.attempts = task.attempts + 7;
  outcome.deaths = 2;
  outcome.error = task::Reason{"LATE", "from a former owner"};
  return outcome;
}

TEST_P(StoreContract, ALateOutcomeAfterAdoptionChangesNothing) {
  for (const Move move : kOutcomes) {
    const Incarnation mortal = join();
    const Task task = running(spec_of(), mortal);
    kill(mortal);
    adopt_all();
    const Task before = row(task.id);
    const Counts counts = must(reader().counts(kWithin));

    const Transition late = late_outcome(task, move, store_now());
    const Applied applied = apply_one(late, attempt_of(task, late, 1));

    EXPECT_EQ(applied.verdict, WriteVerdict::kRefused) << to_string(move);
    EXPECT_EQ(applied.state, std::nullopt);
    EXPECT_EQ(row(task.id), before);
    EXPECT_EQ(must(reader().counts(kWithin)), counts);
    EXPECT_THAT(attempts_of(task.id), IsEmpty());
    EXPECT_THAT(actions_on(task.id), Contains("write_refused"));
  }
}

TEST_P(StoreContract, ALateOutcomeAfterANewClaimChangesNothing) {
  for (const Move move : kOutcomes) {
    const Incarnation mortal = join();
    const Task task = running(spec_of(), mortal);
    kill(mortal);
    adopt_all();
    const Task successor = claim_one();
    ASSERT_EQ(successor.id, task.id);

    const Transition late = late_outcome(task, move, store_now());
    EXPECT_EQ(apply_one(late, attempt_of(task, late, 1)).verdict, WriteVerdict::kRefused);

    EXPECT_EQ(row(task.id), successor) << to_string(move);
    EXPECT_EQ(settle(successor, Move::kSucceed).verdict, WriteVerdict::kApply);
  }
}

TEST_P(StoreContract, ALateFailureDoesNotOverwriteASuccess) {
  const Incarnation mortal = join();
  const Task task = running(spec_of(), mortal);
  kill(mortal);
  adopt_all();
  settle(claim_one(), Move::kSucceed);
  const Task before = row(task.id);

  const Transition late = late_outcome(task, Move::kGiveUp, store_now());
  EXPECT_EQ(apply_one(late, attempt_of(task, late, 1)).verdict, WriteVerdict::kRefused);

  EXPECT_EQ(row(task.id), before);
  EXPECT_THAT(attempts_of(task.id), IsEmpty());
}

TEST_P(StoreContract, AnotherLeaseIdIsRefusedThoughTheFenceIsRight) {
  const Task task = running();
  Task stranger = task;
  stranger.ticket.lease = new_lease();

  EXPECT_EQ(settle(stranger, Move::kSucceed).verdict, WriteVerdict::kRefused)
      << "after a restore, fences can repeat";

  EXPECT_EQ(row(task.id), task);
}

TEST_P(StoreContract, AnotherLeaseIdIsRefusedInTheArchive) {
  const Task task = running();
  settle(task, Move::kSucceed);
  Task stranger = task;
  stranger.ticket.lease = new_lease();

  EXPECT_EQ(settle(stranger, Move::kSucceed).verdict, WriteVerdict::kRefused);
}

TEST_P(StoreContract, AnOlderFenceOfTheSameLeaseIsRefused) {
  const Task first = running();
  settle(first, Move::kRetryHere);
  const Task second = row(first.id);
  settle(second, Move::kRetryHere);
  const Task third = row(first.id);

  EXPECT_EQ(settle(first, Move::kSucceed).verdict, WriteVerdict::kRefused);
  EXPECT_EQ(row(first.id), third);
}

TEST_P(StoreContract, AnOlderFenceIsRefusedInTheArchive) {
  const Task first = running();
  settle(first, Move::kRetryHere);
  settle(row(first.id), Move::kSucceed);
  const Task before = row(first.id);

  EXPECT_EQ(settle(first, Move::kRetryHere).verdict, WriteVerdict::kRefused);
  EXPECT_EQ(row(first.id), before);
}

TEST_P(StoreContract, AFenceFromTheFutureIsRefused) {
  const Task task = running();
  Task early = task;
  early.ticket.fence = task::next(task.ticket.fence);

  EXPECT_EQ(settle(early, Move::kSucceed).verdict, WriteVerdict::kRefused);
  EXPECT_EQ(row(task.id), task);
}

TEST_P(StoreContract, ARepeatAfterTheNextClaimIsRefused) {
  submit();
  const Task first = claim_one();
  Transition retry = plan(first, Move::kRetry, store_now());
  apply_one(retry);
  const Task second = claim_one();

  EXPECT_EQ(apply_one(retry).verdict, WriteVerdict::kRefused);
  EXPECT_EQ(row(first.id), second);
}

TEST_P(StoreContract, ARepeatAfterAPersonsControlIsRefused) {
  const Task task = running();
  const Transition retry = plan(task, Move::kRetry, store_now());
  apply_one(retry);
  must(control(task.id, Move::kPause));
  const Task before = row(task.id);

  EXPECT_EQ(apply_one(retry).verdict, WriteVerdict::kRefused);
  EXPECT_EQ(row(task.id), before);
}

TEST_P(StoreContract, AnOutcomeOfATaskThatNeverWasIsRefused) {
  Task ghost = running();
  ghost.id = new_id();

  EXPECT_EQ(settle(ghost, Move::kSucceed).verdict, WriteVerdict::kRefused);
  EXPECT_EQ(code_of(reader().find(ghost.id, kWithin)), ErrorCode::kNotFound);
}

TEST_P(StoreContract, ARefusedOutcomeDoesNotHoldUpItsBatch) {
  const Incarnation mortal = join();
  const Task lost = running(spec_of(), mortal);
  kill(mortal);
  adopt_all();
  const Task mine = running();
  const TimePoint now = store_now();
  const std::vector<Outcome> batch{outcome_of(lost, Move::kSucceed, now),
                                   outcome_of(mine, Move::kSucceed, now)};

  const std::vector<Applied> applied = must(store().apply(batch, kWithin));

  EXPECT_EQ(applied.at(0).verdict, WriteVerdict::kRefused);
  EXPECT_EQ(applied.at(1).state, State::kSucceeded);
  EXPECT_THAT(actions_on(mine.id), Not(Contains("write_refused")));
}

}  // namespace
}  // namespace recourse::store::contract

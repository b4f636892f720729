// What a person asks of a task that somebody owns: left in the row as a request, and carried out by
// whoever writes the row next.
#include "store/contract/contract.h"

namespace recourse::store::contract {
namespace {

using namespace std::chrono_literals;
using testing::Contains;
using testing::ElementsAre;
using testing::IsEmpty;

constexpr Move kRequests[] = {Move::kPause, Move::kCancel, Move::kResolve, Move::kIgnore,
                              Move::kRetryNow};

TEST_P(StoreContract, AControlOfARunningTaskIsRequestedOfItsOwner) {
  for (const Move move : kRequests) {
    const Task task = running();

    EXPECT_EQ(must(control(task.id, move)), Effect::kRequested) << to_string(move);

    Task expected = task;
    expected.requested = move;
    EXPECT_EQ(row(task.id), expected) << "the owner's next write must not be refused";
    EXPECT_THAT(actions_on(task.id), ElementsAre(std::string(to_string(move)) + "_requested"));
  }
}

TEST_P(StoreContract, TheHeartbeatTellsTheOwnerWhatPeopleWant) {
  const Incarnation other = join();
  const Task mine = running();
  const Task untouched = running();
  const Task theirs = running(spec_of(), other);
  must(control(mine.id, Move::kCancel));
  must(control(theirs.id, Move::kPause));

  EXPECT_THAT(must(store().heartbeat(node(), 0, kWithin)).requests,
              ElementsAre(ControlRequest{.task = mine.id, .move = Move::kCancel}));
  EXPECT_THAT(must(store().heartbeat(other, 0, kWithin)).requests,
              ElementsAre(ControlRequest{.task = theirs.id, .move = Move::kPause}));
  EXPECT_EQ(row(untouched.id).requested, std::nullopt);
}

TEST_P(StoreContract, TheHeartbeatIsSilentOnceTheRequestIsCarriedOut) {
  const Task task = running();
  must(control(task.id, Move::kPause));
  settle(task, Move::kRelease);

  EXPECT_THAT(must(store().heartbeat(node(), 0, kWithin)).requests, IsEmpty());
}

TEST_P(StoreContract, TheNextOutcomeCarriesTheRequestOut) {
  for (const Move requested : kRequests) {
    for (const Move move : {Move::kRetry, Move::kRetryHere, Move::kRelease, Move::kSucceed,
                            Move::kFail, Move::kGiveUp}) {
      const Task task = running();
      must(control(task.id, requested));
      Transition outcome = plan(task, move, store_now());
      outcome.due_at = outcome.at + kHour;
      outcome.error = task::Reason{"HTTP_503", "away"};
      const Transition expected = carry_out(outcome, requested);

      const Applied applied = apply_one(outcome);

      const std::string which =
          std::string(to_string(requested)) + " before " + std::string(to_string(move));
      EXPECT_EQ(applied.verdict, WriteVerdict::kApply) << which;
      EXPECT_EQ(applied.state, expected.to) << which;
      EXPECT_EQ(row(task.id), task::apply(task, expected)) << which;
    }
  }
}

TEST_P(StoreContract, ASuccessStandsWhateverWasRequested) {
  const Task task = running();
  must(control(task.id, Move::kCancel));

  EXPECT_EQ(settle(task, Move::kSucceed).state, State::kSucceeded);
}

TEST_P(StoreContract, ACancelReplacesTheRetry) {
  const Task task = running(keyed("k"));
  must(control(task.id, Move::kCancel));

  EXPECT_EQ(settle(task, Move::kRetry).state, State::kCancelled);

  EXPECT_THAT(claim(1), IsEmpty());
  EXPECT_EQ(count_of(State::kCancelled), 1);
  EXPECT_EQ(count_of(State::kRunning), 0);
  submit(keyed("k"));
}

TEST_P(StoreContract, ATaskOutOfRetriesIsNotPaused) {
  const Task task = running();
  must(control(task.id, Move::kPause));

  EXPECT_EQ(settle(task, Move::kGiveUp).state, State::kDead);
}

TEST_P(StoreContract, ARequestedRetryNowDoesNotWait) {
  const Task task = running();
  must(control(task.id, Move::kRetryNow));
  Transition retry = plan(task, Move::kRetry, store_now());
  retry.due_at = retry.at + kHour;

  EXPECT_EQ(apply_one(retry).state, State::kPending);

  EXPECT_EQ(row(task.id).due_at, retry.at);
  EXPECT_EQ(claim_one().id, task.id);
}

TEST_P(StoreContract, ARepeatedOutcomeIsRecognisedThoughARequestWasCarriedOut) {
  const Task task = running();
  must(control(task.id, Move::kCancel));
  const Transition retry = plan(task, Move::kRetry, store_now());
  apply_one(retry, attempt_of(task, retry, 1));
  const Task before = row(task.id);

  const Applied again = apply_one(retry, attempt_of(task, retry, 1));

  EXPECT_EQ(again.verdict, WriteVerdict::kAlreadyApplied);
  EXPECT_EQ(again.state, State::kCancelled);
  EXPECT_EQ(row(task.id), before);
  EXPECT_EQ(attempts_of(task.id).size(), 1U) << "the attempt happened all the same, once";
}

TEST_P(StoreContract, RequestsInABatchConcernOnlyTheirOwnTasks) {
  const Task plain = running();
  const Task cancelled = running();
  const Task paused = running();
  must(control(cancelled.id, Move::kCancel));
  must(control(paused.id, Move::kPause));
  const TimePoint now = store_now();
  const std::vector<Outcome> batch{outcome_of(paused, Move::kRetry, now),
                                   outcome_of(plain, Move::kRetry, now),
                                   outcome_of(cancelled, Move::kRetry, now)};

  const std::vector<Applied> applied = must(store().apply(batch, kWithin));

  EXPECT_EQ(applied.at(0).state, State::kPaused);
  EXPECT_EQ(applied.at(1).state, State::kPending);
  EXPECT_EQ(applied.at(2).state, State::kCancelled);
}

TEST_P(StoreContract, TheLastRequestIsTheOneThatCounts) {
  const Task task = running();
  must(control(task.id, Move::kPause));
  must(control(task.id, Move::kCancel));

  EXPECT_EQ(settle(task, Move::kRetry).state, State::kCancelled);
}

TEST_P(StoreContract, AdoptionCarriesTheRequestOut) {
  const Incarnation mortal = join();
  const Task cancelled = running(keyed("k"), mortal);
  const Task paused = running(spec_of(), mortal);
  const Task hurried = running(spec_of(), mortal);
  Transition sticky = plan(hurried, Move::kRetryHere, store_now());
  sticky.due_at = sticky.at + kHour;
  apply_one(sticky);
  must(control(cancelled.id, Move::kCancel));
  must(control(paused.id, Move::kPause));
  must(control(hurried.id, Move::kRetryNow));
  kill(mortal);

  EXPECT_EQ(adopt_all(), 3U);

  EXPECT_EQ(row(cancelled.id).state, State::kCancelled);
  EXPECT_EQ(row(paused.id).state, State::kPaused);
  EXPECT_EQ(claim_one().id, hurried.id);
  submit(keyed("k"));
}

TEST_P(StoreContract, AClaimOfAnEndedLeaseCarriesTheRequestOut) {
  for (const Move move : {Move::kCancel, Move::kPause, Move::kResolve, Move::kIgnore}) {
    submit();
    const Task task = lease("w", kInstant).at(0);
    must(control(task.id, move));

    EXPECT_THAT(claim(10), IsEmpty()) << "not handed out after a " << to_string(move);

    const Task after = row(task.id);
    EXPECT_EQ(after.state, task::next_state(State::kRunning, move));
    EXPECT_GT(after.ticket.fence, task.ticket.fence);
    EXPECT_EQ(settle(task, Move::kSucceed).verdict, WriteVerdict::kRefused);
    EXPECT_EQ(row(task.id), after);
    EXPECT_THAT(actions_on(task.id), Contains(std::string(to_string(move))));
  }
}

TEST_P(StoreContract, ARequestedRetryNowOfAnEndedLeaseIsRunAgain) {
  submit();
  const Task task = lease("w", kInstant).at(0);
  must(control(task.id, Move::kRetryNow));

  std::vector<Task> again = claim(1);
  if (again.empty()) again = claim(1);

  EXPECT_THAT(ids_of(again), ElementsAre(task.id));
}

TEST_P(StoreContract, AWorkersOutcomeCarriesTheRequestOut) {
  submit();
  const Task task = lease("w", kHour).at(0);
  must(control(task.id, Move::kPause));

  EXPECT_EQ(settle(task, Move::kRetry).state, State::kPaused);
}

TEST_P(StoreContract, WhatOnlyTheOwnerlessCanHaveIsRefusedWhileATaskRuns) {
  const Task task = running();
  for (const Move move : {Move::kResume, Move::kReopen}) {
    EXPECT_EQ(code_of(control(task.id, move)), ErrorCode::kConflict) << to_string(move);
  }
  EXPECT_EQ(row(task.id), task);
}

}  // namespace
}  // namespace recourse::store::contract

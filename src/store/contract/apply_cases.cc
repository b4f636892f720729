// apply: an outcome is written once, under the ticket it was decided by.
#include <algorithm>

#include "base/text.h"
#include "store/contract/contract.h"

namespace recourse::store::contract {
namespace {

using namespace std::chrono_literals;
using testing::IsEmpty;
using testing::SizeIs;

TEST_P(StoreContract, EveryMoveOfTheTableOutOfRunningIsWrittenAsTheRulesSay) {
  for (const Move move :
       {Move::kRetry, Move::kRetryHere, Move::kRelease, Move::kSucceed, Move::kFail, Move::kGiveUp,
        Move::kPause, Move::kCancel, Move::kResolve, Move::kIgnore}) {
    const Task task = running();
    Transition outcome = plan(task, move, store_now());
    outcome.due_at = outcome.at + kHour;
    outcome.retries = 3;
    outcome.attempts = 4;
    outcome.first_started_at = outcome.at - 7s;
    outcome.error = task::Reason{"HTTP_503", "the downstream is away"};

    const Applied applied = apply_one(outcome);

    EXPECT_EQ(applied.verdict, WriteVerdict::kApply) << to_string(move);
    EXPECT_EQ(applied.state, outcome.to);
    EXPECT_EQ(row(task.id), task::apply(task, outcome)) << to_string(move);
  }
}

TEST_P(StoreContract, ATaskThatNobodyCanRunIsGivenUpWhileItWaits) {
  const Task task = in_state(State::kPending);
  Transition outcome = plan(task, Move::kGiveUp, store_now());
  outcome.error = task::Reason{"NO_HANDLER", "no live node handles this kind"};

  EXPECT_EQ(apply_one(outcome).state, State::kDead);

  EXPECT_EQ(row(task.id), task::apply(task, outcome));
  EXPECT_THAT(claim(1), IsEmpty());
}

TEST_P(StoreContract, ARetryInTheFutureIsNotClaimable) {
  submit();
  Transition retry = plan(claim_one(), Move::kRetry, store_now());
  retry.due_at = retry.at + kHour;

  apply_one(retry);

  EXPECT_THAT(claim(1), IsEmpty());
}

TEST_P(StoreContract, ARetryThatIsDueIsClaimableByAnyNode) {
  submit();
  Transition retry = plan(claim_one(), Move::kRetry, store_now());
  retry.due_at = retry.at - 1s;
  retry.retries = 1;
  apply_one(retry);

  const std::vector<Task> tasks = claim_by(Owner(join()), 1);

  ASSERT_THAT(tasks, SizeIs(1));
  EXPECT_EQ(tasks[0].retries, 1);
}

TEST_P(StoreContract, AStickyRetryStaysWithItsOwner) {
  submit();
  const Task task = claim_one();
  Transition sticky = plan(task, Move::kRetryHere, store_now());
  sticky.due_at = sticky.at - 1s;

  apply_one(sticky);

  const Task after = row(task.id);
  EXPECT_EQ(after.owner, Owner(node()));
  EXPECT_EQ(after.ticket, (task::Ticket{task::next(task.ticket.fence), task.ticket.lease}));
  EXPECT_THAT(claim(1), IsEmpty());
}

TEST_P(StoreContract, AnOutcomeOfAStickyRetryShowsTheNextFence) {
  const Task task = running();
  settle(task, Move::kRetryHere);

  EXPECT_EQ(settle(row(task.id), Move::kSucceed).verdict, WriteVerdict::kApply);
}

TEST_P(StoreContract, ARepeatedOutcomeIsRecognised) {
  for (const Move move :
       {Move::kRetry, Move::kRetryHere, Move::kRelease, Move::kGiveUp, Move::kFail, Move::kPause}) {
    const Task task = running();
    const Transition outcome = plan(task, move, store_now());
    apply_one(outcome, attempt_of(task, outcome, 1));
    const Task before = row(task.id);

    const Applied again = apply_one(outcome, attempt_of(task, outcome, 1));

    EXPECT_EQ(again.verdict, WriteVerdict::kAlreadyApplied) << to_string(move);
    EXPECT_EQ(again.state, outcome.to);
    EXPECT_EQ(row(task.id), before);
    EXPECT_THAT(attempts_of(task.id), SizeIs(1));
  }
}

TEST_P(StoreContract, ARepeatedOutcomeIsRecognisedInTheArchive) {
  for (const Move move : {Move::kSucceed, Move::kCancel, Move::kResolve, Move::kIgnore}) {
    const Task task = running();
    const Transition outcome = plan(task, move, store_now());
    apply_one(outcome, attempt_of(task, outcome, 1));
    const Task before = row(task.id);

    const Applied again = apply_one(outcome, attempt_of(task, outcome, 1));

    EXPECT_EQ(again.verdict, WriteVerdict::kAlreadyApplied) << to_string(move);
    EXPECT_EQ(again.state, outcome.to);
    EXPECT_EQ(row(task.id), before);
    EXPECT_THAT(attempts_of(task.id), SizeIs(1));
  }
}

TEST_P(StoreContract, ABatchAnswersEachOutcomeInTheOrderGiven) {
  const Task fresh = running();
  const Task done = running();
  const Task sticky = running();
  settle(done, Move::kSucceed);
  Task stranger = running();
  stranger.ticket.lease = new_lease();
  const TimePoint now = store_now();
  const std::vector<Outcome> batch{
      outcome_of(stranger, Move::kSucceed, now), outcome_of(sticky, Move::kRetryHere, now),
      outcome_of(done, Move::kSucceed, now), outcome_of(fresh, Move::kGiveUp, now)};

  const std::vector<Applied> applied = must(store().apply(batch, kWithin));

  EXPECT_EQ(applied.at(0).verdict, WriteVerdict::kRefused);
  EXPECT_EQ(applied.at(0).state, std::nullopt);
  EXPECT_EQ(applied.at(1).state, State::kRunning);
  EXPECT_EQ(applied.at(2).verdict, WriteVerdict::kAlreadyApplied);
  EXPECT_EQ(applied.at(3).state, State::kDead);
  EXPECT_EQ(row(stranger.id).state, State::kRunning);
}

TEST_P(StoreContract, AFullBatchOfOutcomesIsWritten) {
  submit_many(kBatchRowsMax);
  const std::vector<Task> tasks = claim(static_cast<int>(kBatchRowsMax));
  const TimePoint now = store_now();
  std::vector<Outcome> batch;
  for (std::size_t i = 0; i < tasks.size(); ++i) {
    const Move move = i % 3 == 0 ? Move::kSucceed : i % 3 == 1 ? Move::kRetry : Move::kGiveUp;
    batch.push_back(outcome_of(tasks[i], move, now));
  }

  const std::vector<Applied> applied = must(store().apply(batch, kWithin));

  for (std::size_t i = 0; i < tasks.size(); ++i) {
    EXPECT_EQ(applied[i].state, batch[i].transition.to);
  }
  EXPECT_EQ(count_of(State::kSucceeded), 167);
  EXPECT_EQ(count_of(State::kPending), 167);
  EXPECT_EQ(count_of(State::kDead), 166);
}

TEST_P(StoreContract, ADuplicateTaskInOneApplyIsRefusedWhole) {
  const Task twice = running();
  const Task once = running();
  const TimePoint now = store_now();
  const std::vector<Outcome> batch{outcome_of(once, Move::kSucceed, now),
                                   outcome_of(twice, Move::kSucceed, now),
                                   outcome_of(twice, Move::kRetry, now)};

  EXPECT_EQ(code_of(store().apply(batch, kWithin)), ErrorCode::kInvalid);

  EXPECT_EQ(row(twice.id), twice);
  EXPECT_EQ(row(once.id), once);
}

TEST_P(StoreContract, AMoveThatTheTableDoesNotHaveIsRefused) {
  const Task task = running();
  Transition invented = plan(task, Move::kSucceed, store_now());
  invented.to = State::kIgnored;
  const std::vector<Outcome> batch{{.transition = invented, .attempt = std::nullopt}};

  EXPECT_EQ(code_of(store().apply(batch, kWithin)), ErrorCode::kInvalid);
  EXPECT_EQ(row(task.id), task);
}

TEST_P(StoreContract, OneBadByteDoesNotFailABatchOfFiveHundred) {
  submit_many(kBatchRowsMax);
  const std::vector<Task> tasks = claim(static_cast<int>(kBatchRowsMax));
  const TimePoint now = store_now();
  std::vector<Outcome> batch;
  for (const Task& task : tasks) {
    Transition retry = plan(task, Move::kRetry, now);
    retry.error = task::Reason{"TIMEOUT", "no answer"};
    batch.push_back({.transition = retry, .attempt = attempt_of(task, retry, 1)});
  }
  const std::string bad("caf\xE9 \xF0\x9F\x98 \0 end", 14);
  batch[250].transition.error->message = bad;
  batch[250].attempt->error->message = bad;

  const std::vector<Applied> applied = must(store().apply(batch, kWithin));

  EXPECT_TRUE(std::ranges::all_of(
      applied, [](const Applied& one) { return one.verdict == WriteVerdict::kApply; }));
  const std::string clean = clean_text(bad, kErrorCharactersMax);
  EXPECT_EQ(row(batch[250].transition.task).last_error.value_or(task::Reason{}).message, clean);
  EXPECT_EQ(attempts_of(batch[250].transition.task).at(0).error, (task::Reason{"TIMEOUT", clean}));
}

TEST_P(StoreContract, ErrorTextIsCutOnACharacter) {
  std::string text;
  for (int i = 0; i < 5'000; ++i) text += "\xE2\x82\xAC";  // the euro sign, three bytes
  const Task task = running();
  Transition outcome = plan(task, Move::kGiveUp, store_now());
  outcome.error = task::Reason{"TIMEOUT", text};

  apply_one(outcome, attempt_of(task, outcome, 1));

  const std::string cut = text.substr(0, 3 * kErrorCharactersMax);
  EXPECT_EQ(row(task.id).last_error.value_or(task::Reason{}).message, cut);
  EXPECT_EQ(attempts_of(task.id).at(0).error.value_or(task::Reason{}).message, cut);
}

TEST_P(StoreContract, AFinishedTaskLeavesTheWorkAndIsStillFound) {
  TaskSpec spec = keyed("k");
  spec.payload = "what was asked";
  spec.headers = {{"X-Request", "r-1"}};
  spec.search_keys = {{"member", "m-1"}};
  const Task task = running(spec);
  Transition success = plan(task, Move::kSucceed, store_now());
  success.attempts = 1;
  success.first_started_at = success.at - 2s;
  apply_one(success);

  EXPECT_EQ(row(task.id), task::apply(task, success));
  EXPECT_THAT(claim(10), IsEmpty());
  EXPECT_THAT(must(reader().held_by(Owner(node()), std::nullopt, 10, kWithin)), IsEmpty());
}

}  // namespace
}  // namespace recourse::store::contract

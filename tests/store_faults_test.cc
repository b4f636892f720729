// A COMMIT, or the reply to it, is lost on the way: what is answered is true.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <vector>

#include "tests/store_faults_support.h"
#include "tests/support/lossy_proxy.h"

namespace recourse::tests {
namespace {

using namespace std::chrono_literals;
using namespace store;
using contract::claim_request;
using contract::code_of;
using contract::keyed;
using contract::kWithin;
using contract::must;
using contract::outcome_of;
using contract::pending;
using contract::spec_of;
using task::Kind;
using task::Move;
using task::State;
using task::Task;
using task::TaskId;
using task::WriteVerdict;
using Loss = LossyProxy::Loss;

class LostCommit : public testing::TestWithParam<ServerKind> {
 protected:
  void SetUp() override {
    const NodeInfo info{.incarnation = self_, .name = "test", .kinds = {Kind("mail")}};
    (void)must(store().join(info, kWithin));
  }

  Store& store() { return opened_->store(); }
  Reader& reader() { return opened_->reader(); }
  Counts counts() { return must(reader().counts(kWithin)); }
  static Counts only(State state, int count) { return {{{Kind("mail"), state}, count}}; }

  std::vector<Submission> three() {
    Submission born = pending(TaskId(ids_.next()), spec_of());
    born.claim = BirthClaim{.owner = self_, .lease = task::LeaseId(ids_.next())};
    return {pending(TaskId(ids_.next()), keyed("k5")), pending(TaskId(ids_.next()), spec_of()),
            born};
  }
  std::vector<TaskId> submit(int count) {
    std::vector<Submission> batch;
    std::vector<TaskId> ids;
    for (int i = 0; i < count; ++i) {
      batch.push_back(pending(TaskId(ids_.next()), spec_of()));
      ids.push_back(batch.back().id);
    }
    (void)must(store().insert(batch, Novelty::kFresh, kWithin));
    return ids;
  }
  Result<Claimed> claim(task::LeaseId lease) {
    return store().claim(claim_request(self_, lease, {{.kind = Kind("mail"), .limit = 10}}, 10),
                         kWithin);
  }
  std::vector<Task> claim() { return must(claim(task::LeaseId(ids_.next()))).tasks; }

  ServerDatabase database_{GetParam()};
  LossyProxy proxy_{GetParam(), database_.url()};
  std::unique_ptr<OpenedStore> opened_ = must(open_at(GetParam(), proxy_.url()));
  SystemClock clock_;
  UlidSource ids_{clock_, 5};
  const task::Incarnation self_{ids_.next()};
};

TEST_P(LostCommit, OfAnInsertIsRepeated) {
  for (const Loss loss : {Loss::kReply, Loss::kCommit}) {
    const Counts before = counts();
    std::vector<Submission> batch = three();
    batch[0].spec.unique_key = task::UniqueKey(loss == Loss::kReply ? "a" : "b");
    proxy_.lose_next(loss);

    const InsertAnswer answer = must(store().insert(batch, Novelty::kFresh, kWithin));

    ASSERT_TRUE(proxy_.has_lost());
    for (std::size_t i = 0; i < batch.size(); ++i) {
      EXPECT_EQ(answer.items[i].result,
                loss == Loss::kReply ? Insertion::kRepeated : Insertion::kInserted);
      EXPECT_EQ(answer.items[i].task, batch[i].id);
      EXPECT_EQ(answer.items[i].still_mine, batch[i].claim.has_value());
    }
    Counts expected = before;
    expected[{Kind("mail"), State::kPending}] += 2;
    expected[{Kind("mail"), State::kRunning}] += 1;
    EXPECT_EQ(counts(), expected);
  }
  EXPECT_EQ(all_tasks(reader()).size(), 6U);
}

TEST_P(LostCommit, OfAnApplyIsRepeated) {
  for (const Loss loss : {Loss::kReply, Loss::kCommit}) {
    (void)submit(4);
    std::vector<Outcome> outcomes;
    for (const Task& task : claim()) {
      const Move move = outcomes.size() < 2 ? Move::kSucceed : Move::kFail;
      Outcome outcome = outcome_of(task, move, clock_.now());
      outcome.attempt = contract::attempt_of(task, outcome.transition, 1);
      outcomes.push_back(outcome);
    }
    ASSERT_EQ(outcomes.size(), 4U);
    proxy_.lose_next(loss);

    const std::vector<Applied> applied = must(store().apply(outcomes, kWithin));

    ASSERT_TRUE(proxy_.has_lost());
    for (std::size_t i = 0; i < outcomes.size(); ++i) {
      EXPECT_EQ(applied[i].verdict,
                loss == Loss::kReply ? WriteVerdict::kAlreadyApplied : WriteVerdict::kApply);
      EXPECT_EQ(applied[i].state, outcomes[i].transition.to);
      EXPECT_EQ(must(reader().attempts(outcomes[i].transition.task, kWithin)).size(), 1U);
    }
  }
  EXPECT_EQ(all_tasks(reader()).size(), 8U);
  EXPECT_EQ(counts(),
            (Counts{{{Kind("mail"), State::kSucceeded}, 4}, {{Kind("mail"), State::kFailed}, 4}}));
}

// Whoever marked them is told so: they are not taken for another's.
TEST_P(LostCommit, OfMarksIsRepeatedAndTheyAreNewAllTheSame) {
  for (const Loss loss : {Loss::kReply, Loss::kCommit}) {
    const std::string run = loss == Loss::kReply ? "a" : "b";
    const auto key = [&](const std::string& name) { return MessageKey(run + name); };
    (void)must(
        opened_->inbox().mark(std::vector{Dealt{.key = key("known"), .keep_for = 1h}}, kWithin));
    const std::vector<Submission> tasks = three();
    const std::vector<Dealt> batch{{.key = key("done"), .keep_for = 1h},
                                   {.key = key("known"), .keep_for = 1h},
                                   {.key = key("handed on"), .keep_for = 1h, .task = tasks[1]}};
    proxy_.lose_next(loss);

    const std::vector<Marked> marked = must(opened_->inbox().mark(batch, kWithin));

    ASSERT_TRUE(proxy_.has_lost());
    EXPECT_TRUE(marked[0].is_new);
    EXPECT_EQ(marked[0].seen, Seen());
    EXPECT_FALSE(marked[1].is_new);
    EXPECT_TRUE(marked[2].is_new);
    EXPECT_EQ(marked[2].seen.task, tasks[1].id);
    for (const Marked& again : must(opened_->inbox().mark(batch, kWithin))) {
      EXPECT_FALSE(again.is_new) << "another call's";
    }
  }
  EXPECT_EQ(counts(), only(State::kPending, 2));
}

TEST_P(LostCommit, OfAClaimIsInDoubtAndTheRecordTellsWhatWasTaken) {
  const std::vector<TaskId> ids = submit(3);
  for (const Loss loss : {Loss::kCommit, Loss::kReply}) {
    const task::LeaseId lease(ids_.next());
    proxy_.lose_next(loss);

    EXPECT_EQ(code_of(claim(lease)), ErrorCode::kInDoubt);

    ASSERT_TRUE(proxy_.has_lost());
    const std::vector<Held> held = must(reader().held_by(self_, {}, 10, kWithin));
    EXPECT_EQ(held.size(), loss == Loss::kReply ? ids.size() : 0U);
    for (const Held& one : held) EXPECT_EQ(one.ticket.lease, lease);
    EXPECT_EQ(counts(), only(loss == Loss::kReply ? State::kRunning : State::kPending, 3));
  }
  EXPECT_THAT(claim(), testing::IsEmpty());
}

TEST_P(LostCommit, OfAControlIsInDoubtAndRepeatingItIsRefusedWhereItWasDone) {
  const std::vector<TaskId> ids = submit(1);
  const auto cancel = [&] {
    return store().control(ids, contract::order_of(Move::kCancel), "alice", kWithin);
  };
  proxy_.lose_next(Loss::kReply);

  EXPECT_EQ(code_of(cancel()), ErrorCode::kInDoubt);

  EXPECT_EQ(must(reader().find(ids[0], kWithin)).state, State::kCancelled);
  EXPECT_FALSE(must(cancel()).items[0].effect);
  EXPECT_EQ(counts(), only(State::kCancelled, 1));
}

TEST_P(LostCommit, OfAHeartbeatAndAJoinIsRepeated) {
  proxy_.lose_next(Loss::kReply);
  EXPECT_EQ(code_of(store().heartbeat(self_, 0, kWithin)), std::nullopt);
  ASSERT_TRUE(proxy_.has_lost());

  const task::Incarnation other(ids_.next());
  proxy_.lose_next(Loss::kReply);
  const NodeInfo info{.incarnation = other, .name = "other", .kinds = {}};
  EXPECT_EQ(code_of(store().join(info, kWithin)), std::nullopt);
  ASSERT_TRUE(proxy_.has_lost());
  EXPECT_EQ(must(reader().nodes(kWithin)).size(), 2U);
}

TEST_P(LostCommit, WhoseOutcomeCannotBeFoundOutByTheDeadlineIsAnsweredSo) {
  const std::vector<Submission> batch = three();
  proxy_.lose_next(Loss::kReplyAndServer);

  const auto inserted = store().insert(batch, Novelty::kFresh, 300ms);

  EXPECT_EQ(code_of(inserted), ErrorCode::kInDoubt);
  proxy_.mend();
  const InsertAnswer again = must(store().insert(batch, Novelty::kRepeat, kWithin));
  for (const Inserted& one : again.items) EXPECT_EQ(one.result, Insertion::kRepeated);
  EXPECT_EQ(all_tasks(reader()).size(), 3U);

  std::vector<Outcome> outcomes;
  for (const Task& task : claim()) {
    outcomes.push_back(outcome_of(task, Move::kSucceed, clock_.now()));
  }
  proxy_.lose_next(Loss::kReplyAndServer);
  EXPECT_EQ(code_of(store().apply(outcomes, 300ms)), ErrorCode::kInDoubt);
  proxy_.mend();
  for (const Applied& one : must(store().apply(outcomes, kWithin))) {
    EXPECT_EQ(one.verdict, WriteVerdict::kAlreadyApplied);
  }
  EXPECT_EQ(counts(),
            (Counts{{{Kind("mail"), State::kSucceeded}, 2}, {{Kind("mail"), State::kRunning}, 1}}));
}

TEST_P(LostCommit, OfATaskFinishedSinceDoesNotBringItBack) {
  std::vector<Submission> batch = three();
  batch.resize(1);
  proxy_.lose_next(Loss::kReplyAndServer);
  EXPECT_EQ(code_of(store().insert(batch, Novelty::kFresh, 300ms)), ErrorCode::kInDoubt);
  proxy_.mend();
  const std::vector<Task> tasks = claim();
  ASSERT_EQ(tasks.size(), 1U);
  (void)must(
      store().apply(std::vector{outcome_of(tasks[0], Move::kSucceed, clock_.now())}, kWithin));

  const InsertAnswer again = must(store().insert(batch, Novelty::kRepeat, kWithin));

  EXPECT_EQ(again.items[0].result, Insertion::kRepeated);
  EXPECT_THAT(claim(), testing::IsEmpty());
  EXPECT_EQ(counts(), only(State::kSucceeded, 1));
}

INSTANTIATE_TEST_SUITE_P(Servers, LostCommit,
                         testing::Values(ServerKind::kPostgres, ServerKind::kMariadb), case_name);

}  // namespace
}  // namespace recourse::tests

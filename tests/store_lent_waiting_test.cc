// While a caller keeps its transaction open nobody waits but those who want the same unique key.
#include <future>

#include "tests/store_lent_fixture.h"

namespace recourse::store {
namespace {

using namespace std::chrono_literals;

class LentAndOpen : public LentSubmit {};

TEST_P(LentAndOpen, KeptOpenStallsNobody) {
  const Submission holder = item(keyed("k5"));
  const Submission known = item();
  (void)insert_one(holder);
  (void)insert_one(known);
  const std::vector<Task> running = claim(10);
  begin();
  // It has met a taken key and an id that is there, and holds rows between those of others.
  (void)must(caller_->submit(std::vector{item(keyed("k5")), known, item(keyed("k3")), item()}));

  const std::vector<Submission> others{item(keyed("k2")), item(keyed("k4")), item(keyed("k9")),
                                       item()};
  for (const Inserted& one : must(store().insert(others, Novelty::kFresh, kUnhindered)).items) {
    EXPECT_EQ(one.result, Insertion::kInserted);
  }
  const Inserted repeated =
      must(store().insert(std::vector{known}, Novelty::kRepeat, kUnhindered)).items[0];
  EXPECT_EQ(repeated.result, Insertion::kRepeated);
  for (const Task& task : running) {
    EXPECT_EQ(finish(task, kUnhindered).verdict, task::WriteVerdict::kApply);
  }
  EXPECT_EQ(must(store().insert(std::vector{item(keyed("k5"))}, Novelty::kFresh, kUnhindered))
                .items[0]
                .result,
            Insertion::kInserted);
  EXPECT_EQ(claim(10, kUnhindered).size(), 5U);
  (void)must(store().adopt("test", kUnhindered));
  (void)must(store().heartbeat(node_, 0, kUnhindered));
  (void)must(
      store().purge({.states = {}, .kind = {}, .ended_before = {}, .by = "test"}, kUnhindered));
  ASSERT_TRUE(caller_->run("COMMIT"));
}

TEST_P(LentAndOpen, OfTheSameKeyLetsABatchGoOnWithoutIt) {
  begin();
  (void)must(caller_->submit(std::vector{item(keyed("k5"))}));

  const std::vector<Submission> batch{item(keyed("k4")), item(keyed("k5")), item()};
  const InsertAnswer answer = must(store().insert(batch, Novelty::kFresh, kUnhindered));

  EXPECT_EQ(answer.items[0].result, Insertion::kInserted);
  EXPECT_EQ(answer.items[1].result, Insertion::kKeyBusy);
  EXPECT_EQ(answer.items[2].result, Insertion::kInserted);
  ASSERT_TRUE(caller_->run("ROLLBACK"));
  EXPECT_EQ(insert_one(batch[1]).result, Insertion::kInserted);
}

TEST_P(LentAndOpen, OfTheSameKeyHoldsUpNoOrdinaryInsert) {
  begin();
  (void)must(caller_->submit(std::vector{item(keyed("k5"))}));
  const auto start = std::chrono::steady_clock::now();

  const Inserted answer = insert_one(item(keyed("k5")));

  EXPECT_EQ(answer.result, Insertion::kKeyBusy);
  EXPECT_LT(std::chrono::steady_clock::now() - start, 2s);
  ASSERT_TRUE(caller_->run("ROLLBACK"));
}

TEST_P(LentAndOpen, OfTheSameKeyIsWaitedForByOneAlone) {
  for (const bool commits : {true, false}) {
    const Submission first = item(keyed(commits ? "won" : "lost"));
    const Submission second = item(first.spec);
    begin();
    (void)must(caller_->submit(std::vector{first}));

    auto waiting = std::async(std::launch::async, [&] {
      return must(store().insert_alone(second, Novelty::kFresh, 30s)).items.at(0);
    });
    EXPECT_EQ(waiting.wait_for(300ms), std::future_status::timeout);
    ASSERT_TRUE(caller_->run(commits ? "COMMIT" : "ROLLBACK"));

    const Inserted answer = waiting.get();
    EXPECT_EQ(answer.result, commits ? Insertion::kKeyTaken : Insertion::kInserted);
    EXPECT_EQ(answer.task, commits ? first.id : second.id);
  }
}

TEST_P(LentAndOpen, OfTheSameKeyIsWaitedForUntilTheDeadlineAndNoLonger) {
  begin();
  (void)must(caller_->submit(std::vector{item(keyed("k5"))}));
  const Submission late = item(keyed("k5"));
  const auto start = std::chrono::steady_clock::now();

  const auto answer = store().insert_alone(late, Novelty::kFresh, 700ms);

  const auto took = std::chrono::steady_clock::now() - start;
  EXPECT_EQ(code_of(answer), ErrorCode::kUnavailable);
  EXPECT_GE(took, 600ms);
  EXPECT_LT(took, 5s);
  ASSERT_TRUE(caller_->run("ROLLBACK"));
  // The server may still be busy with the one that was given up.
  EXPECT_EQ(must(store().insert_alone(late, Novelty::kFresh, 30s)).items[0].result,
            Insertion::kInserted);
}

TEST_P(LentAndOpen, WaitedForByManyStallsNobodyElse) {
  begin();
  (void)must(caller_->submit(std::vector{item(keyed("k5"))}));
  constexpr int kWaiters = 12;
  std::vector<std::future<Result<InsertAnswer>>> waiters;
  for (int i = 0; i < kWaiters; ++i) {
    waiters.push_back(std::async(std::launch::async, [this] {
      return store().insert_alone(item(keyed("k5")), Novelty::kFresh, 30s);
    }));
  }
  EXPECT_EQ(waiters.front().wait_for(500ms), std::future_status::timeout);

  const std::vector<Submission> other{item(keyed("k4")), item()};
  (void)must(store().insert(other, Novelty::kFresh, kUnhindered));
  EXPECT_EQ(claim(10, kUnhindered).size(), 2U);

  ASSERT_TRUE(caller_->run("COMMIT"));
  for (auto& waiter : waiters) {
    EXPECT_EQ(must(waiter.get()).items[0].result, Insertion::kKeyTaken);
  }
}

TEST_P(LentAndOpen, OfTheSameKeyByTwoCallersHasOneWinner) {
  const std::unique_ptr<Caller> other = server_->new_caller();
  const Submission first = item(keyed("k5"));
  begin();
  begin(*other);
  (void)must(caller_->submit(std::vector{first}));

  auto waiting =
      std::async(std::launch::async, [&] { return other->submit(std::vector{item(keyed("k5"))}); });
  EXPECT_EQ(waiting.wait_for(300ms), std::future_status::timeout);
  ASSERT_TRUE(caller_->run("COMMIT"));
  const Result<InsertAnswer> answer = waiting.get();
  ASSERT_TRUE(other->run("COMMIT"));

  // A snapshot that is older than the winner's commit cannot be told who won.
  if (answer) {
    EXPECT_EQ(answer->items[0].result, Insertion::kKeyTaken);
    EXPECT_EQ(answer->items[0].task, first.id);
  } else {
    EXPECT_EQ(answer.error().code, ErrorCode::kConflict);
    EXPECT_EQ(GetParam().name, "PostgresRepeatableRead");
  }
  EXPECT_EQ(all().size(), 1U);
}

INSTANTIATE_TEST_SUITE_P(Servers, LentAndOpen, kLentCases, lent_case_name);

}  // namespace
}  // namespace recourse::store

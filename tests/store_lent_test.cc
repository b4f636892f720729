// Submitting inside a caller's own transaction on a database server: the task exists only if that
// commits, and while it is open nobody waits but those who want the same unique key.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <future>
#include <string>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/ulid_source.h"
#include "store/contract/contract.h"
#include "store/contract/parallel.h"
#include "tests/store_lent_callers.h"

namespace recourse::store {
namespace {

using namespace std::chrono_literals;
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
using task::TaskSpec;
using testing::HasSubstr;

// What others may take while somebody's transaction is open.
constexpr Duration kUnhindered = 3s;

struct LentCase {
  std::string name;
  std::unique_ptr<LentServer> (*open)();
  std::vector<std::string> begin;
};

// GoogleTest finds it by its name.
// NOLINTNEXTLINE(readability-identifier-naming)
void PrintTo(const LentCase& one, std::ostream* out) { *out << one.name; }

class LentSubmit : public testing::TestWithParam<LentCase> {
 protected:
  void SetUp() override {
    ASSERT_TRUE(caller_->run("CREATE TABLE shop_order (id INT PRIMARY KEY)"));
    const NodeInfo node{.incarnation = node_, .name = "test", .kinds = {Kind("mail")}};
    (void)must(store().join(node, kWithin));
  }
  void TearDown() override {
    caller_.reset();
    Counts rows;
    for (const Task& task : all()) ++rows[{task.spec.kind, task.state}];
    EXPECT_EQ(must(reader().counts(kWithin)), rows) << "the counts are not those of the rows";
  }

  Store& store() { return server_->opened().store(); }
  Reader& reader() { return server_->opened().reader(); }

  static void begin(Caller& caller) {
    for (const std::string& statement : GetParam().begin) ASSERT_TRUE(caller.run(statement));
  }
  void begin() { begin(*caller_); }

  TaskId new_id() { return TaskId(ids_.next()); }
  Submission item(TaskSpec spec = spec_of()) { return pending(new_id(), std::move(spec)); }

  Inserted insert_one(const Submission& one) {
    return must(store().insert(std::vector{one}, Novelty::kFresh, kWithin)).items.at(0);
  }
  std::vector<Task> claim(int limit, Duration within = kWithin) {
    const std::vector<Quota> quotas{{.kind = Kind("mail"), .limit = limit}};
    return must(store().claim(claim_request(node_, task::LeaseId(ids_.next()), quotas, limit),
                              within))
        .tasks;
  }
  Applied finish(const Task& task, Duration within = kWithin) {
    const std::vector<Outcome> batch{outcome_of(task, Move::kSucceed, clock_.now())};
    return must(store().apply(batch, within)).at(0);
  }
  std::vector<Task> all(const Filter& filter = {}) {
    std::vector<Task> tasks;
    std::optional<TaskId> after;
    do {
      TaskPage page = must(reader().list(filter, after, kPageRowsMax, kWithin));
      tasks.insert(tasks.end(), page.tasks.begin(), page.tasks.end());
      after = page.next;
    } while (after);
    return tasks;
  }

  std::unique_ptr<LentServer> server_ = GetParam().open();
  std::unique_ptr<Caller> caller_ = server_->new_caller();
  SystemClock clock_;
  UlidSource ids_{clock_, 7};
  const task::Incarnation node_{ids_.next()};
};

TEST_P(LentSubmit, ExistsOnceTheCallerCommits) {
  TaskSpec spec = keyed("order-7");
  spec.search_keys = {{"order", "7"}};
  spec.payload = std::string("pay\0it", 6);
  spec.headers = {{"city", "Łódź"}};
  const std::vector<Submission> batch{item(spec), item(), item()};

  begin();
  ASSERT_TRUE(caller_->run("INSERT INTO shop_order VALUES (7)"));
  const InsertAnswer answer = must(caller_->submit(batch));

  for (const Inserted& one : answer.items) EXPECT_EQ(one.result, Insertion::kInserted);
  EXPECT_EQ(answer.items[1].task, batch[1].id);
  EXPECT_THAT(all(), testing::IsEmpty());
  EXPECT_THAT(claim(10), testing::IsEmpty());

  ASSERT_TRUE(caller_->run("COMMIT"));
  EXPECT_EQ(all().size(), 3U);
  Filter by_key;
  by_key.search_key = {"order", "7"};
  ASSERT_EQ(all(by_key).size(), 1U);
  EXPECT_EQ(all(by_key)[0].spec, spec);
  EXPECT_EQ(must(reader().counts(kWithin)), (Counts{{{Kind("mail"), State::kPending}, 3}}));
  EXPECT_EQ(claim(10).size(), 3U);
}

TEST_P(LentSubmit, LeavesNothingWhenTheCallerRollsBack) {
  TaskSpec spec = keyed("order-7");
  spec.search_keys = {{"order", "7"}};
  begin();
  (void)must(caller_->submit(std::vector{item(spec), item()}));
  ASSERT_TRUE(caller_->run("ROLLBACK"));

  for (const char* table : {"task", "unique", "search", "counter"}) {
    EXPECT_EQ(caller_->number(std::string("SELECT COUNT(*) FROM recourse_") + table), 0) << table;
  }
  EXPECT_EQ(insert_one(item(keyed("order-7"))).result, Insertion::kInserted);
}

TEST_P(LentSubmit, KeepsTheCallersTransactionUsableAfterAnError) {
  TaskSpec spec = keyed("order-7");
  spec.search_keys = {{"order", "7"}};
  ASSERT_TRUE(caller_->run("ALTER TABLE recourse_search RENAME TO gone_search"));
  begin();
  ASSERT_TRUE(caller_->run("INSERT INTO shop_order VALUES (7)"));

  const auto refused = caller_->submit(std::vector{item(spec)});
  EXPECT_EQ(code_of(refused), ErrorCode::kInvalid);
  EXPECT_THAT(refused.error().message, HasSubstr("schema"));
  Submission born = item();
  born.claim = BirthClaim{.owner = node_, .lease = task::LeaseId(ids_.next())};
  EXPECT_EQ(code_of(caller_->submit(std::vector{born})), ErrorCode::kInvalid);
  EXPECT_EQ(must(caller_->submit(std::vector{item()})).items[0].result, Insertion::kInserted);

  ASSERT_TRUE(caller_->run("COMMIT"));
  ASSERT_TRUE(caller_->run("ALTER TABLE gone_search RENAME TO recourse_search"));
  EXPECT_EQ(caller_->number("SELECT COUNT(*) FROM shop_order"), 1);
  EXPECT_EQ(caller_->number("SELECT COUNT(*) FROM recourse_unique"), 0);
  EXPECT_EQ(all().size(), 1U);
}

TEST_P(LentSubmit, TellsWhoHasTheKeyAndWhatIsThereAlready) {
  const Submission first = item(keyed("order-7"));
  const Submission done = item();
  (void)insert_one(first);
  (void)insert_one(done);
  for (const Task& task : claim(10)) {
    if (task.id == done.id) (void)finish(task);
  }

  begin();
  const InsertAnswer answer =
      must(caller_->submit(std::vector{item(keyed("order-7")), first, done, item()}));
  ASSERT_TRUE(caller_->run("COMMIT"));

  EXPECT_EQ(answer.items[0].result, Insertion::kKeyTaken);
  EXPECT_EQ(answer.items[0].task, first.id);
  EXPECT_EQ(answer.items[1].result, Insertion::kRepeated);
  EXPECT_EQ(answer.items[2].result, Insertion::kRepeated);
  EXPECT_EQ(answer.items[3].result, Insertion::kInserted);
  EXPECT_EQ(all().size(), 3U);
}

TEST_P(LentSubmit, IsRefusedWhereTheConnectionCannotBeUsed) {
  const std::vector<Submission> batch{item()};
  const auto error = [&](Caller& caller) {
    const auto answer = caller.submit(batch);
    return answer ? Error{ErrorCode::kCorrupt, "it was taken"} : answer.error();
  };
  const Error outside = error(*caller_);
  EXPECT_EQ(outside.code, ErrorCode::kInvalid);
  EXPECT_THAT(outside.message, HasSubstr("not inside a transaction"));

  const std::unique_ptr<Caller> foreign = server_->foreign_caller();
  begin(*foreign);
  const Error encoding = error(*foreign);
  EXPECT_EQ(encoding.code, ErrorCode::kInvalid);
  EXPECT_THAT(encoding.message, testing::AnyOf(HasSubstr("UTF8"), HasSubstr("utf8mb4")));

  const std::unique_ptr<Caller> lost = server_->lost_caller();
  begin(*lost);
  const Error no_schema = error(*lost);
  EXPECT_EQ(no_schema.code, ErrorCode::kInvalid);
  EXPECT_THAT(no_schema.message, HasSubstr("schema"));
  EXPECT_TRUE(lost->run("COMMIT"));

  ASSERT_TRUE(caller_->run("UPDATE recourse_meta SET value = 999 WHERE name = 'schema'"));
  begin();
  const Error newer = error(*caller_);
  EXPECT_EQ(newer.code, ErrorCode::kInvalid);
  EXPECT_THAT(newer.message, HasSubstr("schema 999"));
  ASSERT_TRUE(caller_->run("COMMIT"));
  EXPECT_THAT(all(), testing::IsEmpty());
}

TEST_P(LentSubmit, IsCountedBeforeAndAfterItsCountsAreFolded) {
  // Together more rows of counts than stay unfolded.
  constexpr int kTransactions = 11;
  constexpr int kKinds = 100;
  Counts expected;
  for (int i = 0; i < kTransactions; ++i) {
    std::vector<Submission> batch;
    for (int kind = 0; kind < kKinds; ++kind) {
      batch.push_back(item(spec_of("kind-" + std::to_string(kind))));
      ++expected[{batch.back().spec.kind, State::kPending}];
    }
    begin();
    (void)must(caller_->submit(batch));
    ASSERT_TRUE(caller_->run("COMMIT"));
  }
  EXPECT_EQ(must(reader().counts(kWithin)), expected);
  const std::int64_t before = caller_->number("SELECT COUNT(*) FROM recourse_counter");
  ASSERT_TRUE(caller_->run("COMMIT"));

  (void)must(store().adopt("test", kWithin));

  EXPECT_LT(caller_->number("SELECT COUNT(*) FROM recourse_counter"), before);
  EXPECT_EQ(must(reader().counts(kWithin)), expected);
}

TEST_P(LentSubmit, KeptOpenStallsNobody) {
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

TEST_P(LentSubmit, OfTheSameKeyLetsABatchGoOnWithoutIt) {
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

TEST_P(LentSubmit, OfTheSameKeyIsWaitedForByOneAlone) {
  for (const bool commits : {true, false}) {
    const Submission first = item(keyed(commits ? "won" : "lost"));
    const Submission second = item(first.spec);
    begin();
    (void)must(caller_->submit(std::vector{first}));

    auto waiting = std::async(std::launch::async, [&] { return insert_one(second); });
    EXPECT_EQ(waiting.wait_for(300ms), std::future_status::timeout);
    ASSERT_TRUE(caller_->run(commits ? "COMMIT" : "ROLLBACK"));

    const Inserted answer = waiting.get();
    EXPECT_EQ(answer.result, commits ? Insertion::kKeyTaken : Insertion::kInserted);
    EXPECT_EQ(answer.task, commits ? first.id : second.id);
  }
}

TEST_P(LentSubmit, OfTheSameKeyIsWaitedForUntilTheDeadlineAndNoLonger) {
  begin();
  (void)must(caller_->submit(std::vector{item(keyed("k5"))}));
  const Submission late = item(keyed("k5"));
  const auto start = std::chrono::steady_clock::now();

  const auto answer = store().insert(std::vector{late}, Novelty::kFresh, 700ms);

  const auto took = std::chrono::steady_clock::now() - start;
  EXPECT_EQ(code_of(answer), ErrorCode::kUnavailable);
  EXPECT_GE(took, 600ms);
  EXPECT_LT(took, 5s);
  ASSERT_TRUE(caller_->run("ROLLBACK"));
  EXPECT_EQ(insert_one(late).result, Insertion::kInserted);
}

TEST_P(LentSubmit, WaitedForByManyStallsNobodyElse) {
  begin();
  (void)must(caller_->submit(std::vector{item(keyed("k5"))}));
  constexpr int kWaiters = 12;
  std::vector<std::future<Result<InsertAnswer>>> waiters;
  for (int i = 0; i < kWaiters; ++i) {
    waiters.push_back(std::async(std::launch::async, [this] {
      return store().insert(std::vector{item(keyed("k5"))}, Novelty::kFresh, 30s);
    }));
  }
  EXPECT_EQ(waiters.front().wait_for(500ms), std::future_status::timeout);

  const std::vector<Submission> other{item(keyed("k4")), item()};
  EXPECT_EQ(code_of(store().insert(other, Novelty::kFresh, kUnhindered)), std::nullopt);
  EXPECT_EQ(claim(10, kUnhindered).size(), 2U);

  ASSERT_TRUE(caller_->run("COMMIT"));
  for (auto& waiter : waiters) {
    EXPECT_EQ(must(waiter.get()).items[0].result, Insertion::kKeyTaken);
  }
}

TEST_P(LentSubmit, OfTheSameKeyByTwoCallersHasOneWinner) {
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

INSTANTIATE_TEST_SUITE_P(
    Servers, LentSubmit,
    testing::Values(
        LentCase{"Postgres", lent_postgres, {"BEGIN"}},
        LentCase{
            "PostgresRepeatableRead", lent_postgres, {"BEGIN ISOLATION LEVEL REPEATABLE READ"}},
        LentCase{"Mariadb", lent_mariadb, {"START TRANSACTION"}},
        LentCase{"MariadbReadCommitted",
                 lent_mariadb,
                 {"SET TRANSACTION ISOLATION LEVEL READ COMMITTED", "START TRANSACTION"}},
        LentCase{"MariadbWithoutAutocommit", lent_mariadb, {"SET autocommit = 0"}}),
    [](const auto& one) { return one.param.name; });

}  // namespace
}  // namespace recourse::store

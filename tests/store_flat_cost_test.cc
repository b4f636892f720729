// What does not grow with the number of tasks: a claim, the counts, a page of a list.
//
// The normal run counts rows that the database touches. Times are taken with --full, among
// 1,000,000 tasks that wait and 1,000,000 that are finished: each beside one from an empty store,
// turn by turn in the same run, because an absolute one says more about the machine than about the
// store.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <memory>
#include <ranges>
#include <string>
#include <vector>

#include "base/function_ref.h"
#include "base/ulid.h"
#include "store/contract/contract.h"
#include "tests/support/fresh_database.h"
#include "tests/support/full_form.h"
#include "tests/support/plans.h"
#include "tests/support/recorded_statements.h"

namespace recourse::tests {
namespace {

using namespace std::chrono_literals;
using store::contract::kWithin;
using store::contract::must;
using Clock = std::chrono::steady_clock;

constexpr std::size_t kRows = 1'000'000;

const task::Kind kMail("mail");

Clock::duration time_of(FunctionRef<void()> work) {
  const auto start = Clock::now();
  work();
  return Clock::now() - start;
}

Clock::duration median(std::vector<Clock::duration> times) {
  std::ranges::sort(times);
  return times[times.size() / 2];
}

double milliseconds(Clock::duration time) {
  return std::chrono::duration<double, std::milli>(time).count();
}

// A store and what one needs to live a life on it.
class Bench {
 public:
  explicit Bench(Database kind) : database_(fresh_database(kind)), opened_(database_->open()) {}

  store::Reader& reader() { return opened_->reader(); }
  FreshDatabase& database() { return *database_; }

  void fill(std::size_t count) {
    const std::unique_ptr<sql::Connection> connection = database_->connect();
    const TimePoint now = std::chrono::time_point_cast<Duration>(std::chrono::system_clock::now());
    const BulkTasks tasks{.count = count};
    const Result<> waiting = add_waiting(database_->kind(), *connection, tasks, now + 1h);
    ASSERT_TRUE(waiting) << waiting.error().message;
    const Result<> finished = add_finished(database_->kind(), *connection, tasks, now + 1h);
    ASSERT_TRUE(finished) << finished.error().message;
  }

  void submit(int count) {
    std::vector<store::Submission> batch(static_cast<std::size_t>(count));
    for (store::Submission& item : batch) {
      item.id = task::TaskId(name());
      item.spec.kind = kMail;
      item.spec.search_keys = {{"order", "7"}};
    }
    (void)must(opened_->store().insert(batch, store::Novelty::kFresh, kWithin));
  }

  // How long the claim took; what was claimed is then ended by `move`.
  Clock::duration claim_and_settle(int count, task::Move move = task::Move::kSucceed) {
    store::ClaimRequest request;
    request.owner = task::Owner(task::WorkerName("w"));
    request.lease = task::LeaseId(name());
    request.lease_for = 1h;
    request.quotas = {{.kind = kMail, .limit = count}};
    request.limit = count;
    store::Claimed claimed;
    const auto took = time_of([&] { claimed = must(opened_->store().claim(request, kWithin)); });
    EXPECT_EQ(claimed.tasks.size(), static_cast<std::size_t>(count));
    std::vector<store::Outcome> outcomes;
    for (const task::Task& task : claimed.tasks) {
      outcomes.push_back(
          {.transition = task::plan(task, move, claimed.now), .attempt = std::nullopt});
    }
    (void)must(opened_->store().apply(outcomes, kWithin));
    return took;
  }

  // As a life goes: the median of many claims of 100.
  static std::pair<Clock::duration, Clock::duration> claim_in_turns(Bench& one, Bench& other) {
    constexpr int kRounds = 60;
    constexpr int kClaim = 100;
    std::vector<Clock::duration> ones;
    std::vector<Clock::duration> others;
    for (int i = 0; i < kRounds; ++i) {
      one.submit(kClaim);
      ones.push_back(one.claim_and_settle(kClaim));
      other.submit(kClaim);
      others.push_back(other.claim_and_settle(kClaim));
    }
    return {median(ones), median(others)};
  }

 private:
  Ulid name() { return names_.next(TimePoint(1'700'000'000s)); }

  std::unique_ptr<FreshDatabase> database_;
  std::unique_ptr<store::OpenedStore> opened_;
  UlidSequence names_{13};
};

class StoreFlatCost : public testing::TestWithParam<Database> {
 protected:
  // The median of what a reader's question takes, after one for warming up.
  static double time_to_ask(FunctionRef<void()> question) {
    question();
    std::vector<Clock::duration> times;
    for (int i = 0; i < 15; ++i) times.push_back(time_of(question));
    return milliseconds(median(times));
  }
};

TEST_P(StoreFlatCost, AClaimCostsTheSameHoweverMuchWaitsOrIsFinished) {
  if (!is_measuring()) GTEST_SKIP() << kMeasuredInFull;
  Bench full(GetParam());
  Bench empty(GetParam());
  full.fill(kRows);

  // A cost that grows with the table shows every time; other work on the machine does not.
  bool is_flat = false;
  for (int round = 0; round < 3 && !is_flat; ++round) {
    const auto [beside_many, alone] = Bench::claim_in_turns(full, empty);
    fmt::print("{}: a claim of 100 takes {:.2f} ms, {:.2f} ms on an empty store\n",
               to_string(GetParam()), milliseconds(beside_many), milliseconds(alone));
    is_flat = beside_many <= alone * 3 / 2;
  }
  EXPECT_TRUE(is_flat);
}

TEST_P(StoreFlatCost, CountsAndPagesComeAtOnceHoweverMuchIsThere) {
  if (!is_measuring()) GTEST_SKIP() << kMeasuredInFull;
  Bench full(GetParam());
  full.fill(kRows);
  full.submit(200);
  (void)full.claim_and_settle(100, task::Move::kGiveUp);
  (void)full.claim_and_settle(50, task::Move::kSucceed);
  store::Reader& reader = full.reader();

  const double counts = time_to_ask([&] { (void)must(reader.counts(kWithin)); });
  fmt::print("{}: counts {:.2f} ms", to_string(GetParam()), counts);
  EXPECT_LE(counts, 5.0);

  std::vector<std::pair<std::string, store::Filter>> pages(6);
  pages[0] = {"everything", {}};
  pages[1].first = "a kind";
  pages[1].second.kinds = {kMail};
  pages[2].first = "dead";
  pages[2].second.states = {task::State::kDead};
  pages[3].first = "a search key";
  pages[3].second.search_key = {"order", "7"};
  pages[4].first = "a kind that nobody has";
  pages[4].second.kinds = {task::Kind("fax")};
  pages[5].first = "finished";
  pages[5].second.states = {task::State::kSucceeded};
  for (const auto& [what, filter] : pages) {
    const double page =
        time_to_ask([&] { (void)must(reader.list(filter, std::nullopt, 50, kWithin)); });
    fmt::print(", {} {:.2f} ms", what, page);
    EXPECT_LE(page, 20.0) << what;
  }
  fmt::print("\n");
}

// What a claim of a hundred, the counts and a page of each sort send to our tables, and the rows
// that the database touches for it beside so many others.
class Counted {
 public:
  Counted(Database kind, std::size_t others) : bench_(kind), kind_(kind) {
    bench_.fill(others);
    bench_.submit(kAsked);
    {
      const auto opened = bench_.database().open_recorded(recorder_);
      ask(opened->reader());
      claim(opened->store());
    }
    bench_.submit(kAsked);
  }

  std::map<std::string, std::int64_t> rows_by_statement() {
    const auto connection = bench_.database().connect();
    connection->set_deadline(Clock::now() + 1min);
    std::map<std::string, std::int64_t> rows;
    for (const Statement& statement : recorder_.statements()) {
      if (statement.text.find("recourse_") == std::string::npos) continue;
      rows[statement.text] = rows_read(kind_, *connection, statement);
    }
    return rows;
  }

 private:
  static constexpr int kAsked = 100;

  static void ask(store::Reader& reader) {
    (void)must(reader.counts(kWithin));
    store::Filter of_a_kind;
    of_a_kind.kinds = {kMail};
    store::Filter dead;
    dead.states = {task::State::kDead};
    store::Filter found;
    found.search_key = {"order", "7"};
    for (const store::Filter& filter : {store::Filter{}, of_a_kind, dead, found}) {
      (void)must(reader.list(filter, std::nullopt, 50, kWithin));
    }
  }
  static void claim(store::Store& store) {
    store::ClaimRequest request;
    request.owner = task::Owner(task::WorkerName("w"));
    request.lease = task::LeaseId(Ulid{});
    request.lease_for = 1h;
    request.quotas = {{.kind = kMail, .limit = kAsked}};
    request.limit = kAsked;
    EXPECT_EQ(must(store.claim(request, kWithin)).tasks.size(), std::size_t{kAsked});
  }

  Bench bench_;
  const Database kind_;
  Recorder recorder_;
};

// By counting what the tests above measure. SQLite counts no rows; that it scans nothing is
// StorePlans' to say.
TEST_P(StoreFlatCost, AClaimAndAPageReadNoMoreRowsHoweverMuchWaitsOrIsFinished) {
  if (GetParam() == Database::kSqlite) GTEST_SKIP() << "it counts no rows: see StorePlans";
  // More than a page of a rare kind looks through before it stops.
  const auto beside_some = Counted(GetParam(), 6'000).rows_by_statement();

  const auto beside_many = Counted(GetParam(), 20'000).rows_by_statement();

  std::int64_t all = 0;
  for (const auto& [statement, rows] : beside_many) {
    const auto same = beside_some.find(statement);
    const std::int64_t before = same == beside_some.end() ? 0 : same->second;
    EXPECT_LE(rows, before + 500) << statement;
    all += rows;
  }
  EXPECT_GE(all, 100) << "the server counted nothing";
  EXPECT_TRUE(std::ranges::any_of(std::views::keys(beside_many), [](const std::string& statement) {
    return statement.find("FROM recourse_counter") != std::string::npos;
  })) << "the counts were not replayed";
}

INSTANTIATE_TEST_SUITE_P(, StoreFlatCost,
                         testing::Values(Database::kPostgres, Database::kMariadb,
                                         Database::kSqlite),
                         database_name);

// Somebody's backup, or a forgotten transaction: nothing that died since can be cleared away.
class HeldSnapshot {
 public:
  explicit HeldSnapshot(FreshDatabase& database) : connection_(database.connect()) {
    connection_->set_deadline(Clock::now() + 10min);
    EXPECT_TRUE(connection_->run("SET idle_in_transaction_session_timeout = 0"));
    EXPECT_TRUE(connection_->begin());
    EXPECT_TRUE(connection_->execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ", {}));
    EXPECT_TRUE(
        connection_->query("SELECT count(*) FROM recourse_node", {}, [](const sql::Row&) {}));
  }
  ~HeldSnapshot() { connection_->rollback(); }
  HeldSnapshot(const HeldSnapshot&) = delete;
  HeldSnapshot& operator=(const HeldSnapshot&) = delete;

 private:
  std::unique_ptr<sql::Connection> connection_;
};

// The rule of it is LowWater's, and proved beside it.
TEST(PostgresFlatCost, AHeldSnapshotAtMostHalvesTheThroughputOfClaims) {
  if (!is_measuring()) GTEST_SKIP() << kMeasuredInFull;
  constexpr int kBatch = 500;
  constexpr int kLives = 300'000;
  Bench held(Database::kPostgres);
  Bench free(Database::kPostgres);
  const HeldSnapshot snapshot(held.database());
  const auto live = [](Bench& bench, int count) {
    for (int done = 0; done < count; done += kBatch) {
      bench.submit(kBatch);
      (void)bench.claim_and_settle(kBatch);
    }
  };
  live(held, kLives);
  live(free, kBatch);

  // The rate over all, not a median: the claim that looks from the beginning counts too.
  Clock::duration with_snapshot{};
  Clock::duration without{};
  constexpr int kRounds = 200;
  for (int i = 0; i < kRounds; ++i) {
    held.submit(kBatch);
    with_snapshot += held.claim_and_settle(kBatch);
    free.submit(kBatch);
    without += free.claim_and_settle(kBatch);
  }

  fmt::print("claims of {} after {} lives under a snapshot: {:.2f} ms, {:.2f} ms without\n", kBatch,
             kLives, milliseconds(with_snapshot) / kRounds, milliseconds(without) / kRounds);
  EXPECT_LE(with_snapshot, without * 2);
}

}  // namespace
}  // namespace recourse::tests

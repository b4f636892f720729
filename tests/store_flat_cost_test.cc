// What does not grow with the number of tasks: a claim, the counts, a page of a list.
//
// Each figure is taken beside one from an empty store, turn by turn in the same run, because an
// absolute one says more about the machine than about the store. RECOURSE_TEST_FULL=1 fills in ten
// times as much: 1,000,000 tasks that wait and 1,000,000 that are finished.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "base/function_ref.h"
#include "base/ulid.h"
#include "store/contract/contract.h"
#include "tests/support/fresh_database.h"
#include "tests/support/full_form.h"

namespace recourse::tests {
namespace {

using namespace std::chrono_literals;
using store::contract::kWithin;
using store::contract::must;
using Clock = std::chrono::steady_clock;

std::size_t rows() { return is_full() ? 1'000'000 : 100'000; }

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
  Bench full(GetParam());
  Bench empty(GetParam());
  full.fill(rows());

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
  Bench full(GetParam());
  full.fill(rows());
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

TEST(PostgresFlatCost, AHeldSnapshotAtMostHalvesTheThroughputOfClaims) {
  constexpr int kBatch = 500;
  const int lives = is_full() ? 300'000 : 30'000;
  Bench held(Database::kPostgres);
  Bench free(Database::kPostgres);
  const HeldSnapshot snapshot(held.database());
  const auto live = [](Bench& bench, int count) {
    for (int done = 0; done < count; done += kBatch) {
      bench.submit(kBatch);
      (void)bench.claim_and_settle(kBatch);
    }
  };
  live(held, lives);
  live(free, kBatch);

  // The rate over all, not a median: the claim that looks from the beginning counts too.
  Clock::duration with_snapshot{};
  Clock::duration without{};
  const int rounds = is_full() ? 200 : 60;
  for (int i = 0; i < rounds; ++i) {
    held.submit(kBatch);
    with_snapshot += held.claim_and_settle(kBatch);
    free.submit(kBatch);
    without += free.claim_and_settle(kBatch);
  }

  fmt::print("claims of {} after {} lives under a snapshot: {:.2f} ms, {:.2f} ms without\n", kBatch,
             lives, milliseconds(with_snapshot) / rounds, milliseconds(without) / rounds);
  EXPECT_LE(with_snapshot, without * 2);
}

}  // namespace
}  // namespace recourse::tests

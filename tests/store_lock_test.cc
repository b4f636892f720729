// What a claim locks while it is under way, and that nobody waits for it who wants something else.
//
// How the figure is read: InnoDB counts locked index records (innodb_trx.trx_rows_locked). A row
// that is found by the index of due times and locked has two: the entry of that index and the row
// itself. So a claim of n rows in one probe has 2n, and the promise of n + 2 rows allows 2(n + 2).
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/ulid.h"
#include "store/contract/contract.h"
#include "store/mysql/transaction.h"
#include "store/postgres/low_water.h"
#include "store/postgres/transaction.h"
#include "tests/support/fresh_database.h"

namespace recourse::tests {
namespace {

using namespace std::chrono_literals;
using store::contract::kWithin;
using store::contract::must;
using store::relational::RelationalTransaction;
using Care = RelationalTransaction::Care;

constexpr std::int64_t kSpare = 2;

class StoreLocks : public testing::TestWithParam<Database> {
 protected:
  void SetUp() override {
    database_ = fresh_database(GetParam());
    opened_ = database_->open();
    claimer_ = database_->connect();
    claimer_->set_deadline(std::chrono::steady_clock::now() + 5min);
  }

  void TearDown() override {
    claimer_->rollback();
    claimer_.reset();
    opened_.reset();
  }

  store::Submission task(int priority) {
    store::Submission item;
    item.id = task::TaskId(names_.next(TimePoint(1'700'000'000s)));
    item.spec.kind = task::Kind("mail");
    item.spec.priority = priority;
    return item;
  }

  void submit(int count, int priority) {
    std::vector<store::Submission> batch;
    for (int i = 0; i < count; ++i) batch.push_back(task(priority));
    (void)must(opened_->store().insert(batch, store::Novelty::kFresh, kWithin));
  }

  // 300,000 of better priority that nobody may have for an hour.
  void add_waiting_in_front() {
    const std::unique_ptr<sql::Connection> connection = database_->connect();
    const BulkTasks tasks{.count = 300'000, .kind = "mail", .priority = "6 + n % 5"};
    const TimePoint now = std::chrono::time_point_cast<Duration>(std::chrono::system_clock::now());
    const Result<> added = add_waiting(GetParam(), *connection, tasks, now + 1h);
    ASSERT_TRUE(added) << added.error().message;
  }

  // As the store claims, but the transaction stays open until the end of the test.
  std::size_t claim_and_hold(int limit) {
    store::ClaimRequest request;
    request.owner = task::Owner(task::WorkerName("w"));
    request.lease = task::LeaseId(names_.next(TimePoint(1'700'000'000s)));
    request.lease_for = 1h;
    request.quotas = {{.kind = task::Kind("mail"), .limit = limit}};
    request.limit = limit;
    if (Result<> begun = claimer_->begin(); !begun) return 0;
    const store::Shares shares{
        .kinds = {{.kind = task::Kind("mail"), .limit = limit, .limit_alone = limit}},
        .limit = limit};
    return must(transaction()->take_due(request, shares)).tasks.size();
  }

  std::int64_t rows_locked_by_the_claim() {
    std::int64_t claimer = 0;
    ask(*claimer_, "SELECT CONNECTION_ID()", claimer);
    const std::unique_ptr<sql::Connection> observer = database_->connect();
    std::int64_t locked = -1;
    ask(*observer,
        fmt::format("SELECT trx_rows_locked FROM information_schema.innodb_trx"
                    " WHERE trx_mysql_thread_id = {}",
                    claimer),
        locked);
    return locked;
  }

  // True: it was written, within what nobody would call waiting for a lock.
  bool another_can_insert(int priority) {
    const std::vector batch{task(priority)};
    const auto inserted = opened_->store().insert(batch, store::Novelty::kFresh, 2s);
    return inserted && inserted->items.at(0).result == store::Insertion::kInserted;
  }

 private:
  static void ask(sql::Connection& connection, const std::string& question, std::int64_t& answer) {
    const Result<> asked =
        connection.query(question, {}, [&](const sql::Row& row) { answer = row.integer(0); });
    ASSERT_TRUE(asked) << asked.error().message;
  }

  std::unique_ptr<store::Transaction> transaction() {
    if (GetParam() == Database::kMariadb) {
      return std::make_unique<store::mysql::MysqlTransaction>(
          store::relational::Seat{
              .connection = *claimer_, .dialect = store::mysql::kDialect, .stripe = {}},
          Care::kHopeful, store::mysql::Flavour::kMariadb);
    }
    return std::make_unique<store::postgres::PostgresTransaction>(
        store::relational::Seat{
            .connection = *claimer_, .dialect = store::postgres::kDialect, .stripe = {}},
        Care::kHopeful, low_water_);
  }

  std::unique_ptr<FreshDatabase> database_;
  std::unique_ptr<store::OpenedStore> opened_;
  std::unique_ptr<sql::Connection> claimer_;
  store::postgres::LowWater low_water_;
  UlidSequence names_{11};
};

class InnodbLocks : public StoreLocks {};

TEST_P(InnodbLocks, AreOnlyOnWhatAClaimTakes) {
  submit(200, 5);

  ASSERT_EQ(claim_and_hold(20), 20U);

  EXPECT_GT(rows_locked_by_the_claim(), 0);
  EXPECT_LE(rows_locked_by_the_claim(), 2 * (20 + kSpare));
}

TEST_P(InnodbLocks, AreOnlyOnWhatAClaimTakesWhereItTakesAllThatIsDue) {
  submit(7, 5);
  submit(7, 2);

  ASSERT_EQ(claim_and_hold(100), 14U);

  EXPECT_LE(rows_locked_by_the_claim(), 2 * (14 + 2 * kSpare));
}

TEST_P(InnodbLocks, PassOverWhatIsNotDueHoweverMuchStandsInFront) {
  add_waiting_in_front();
  submit(200, 5);

  ASSERT_EQ(claim_and_hold(20), 20U);

  // Six probes: those above find nothing, but look at the first that is not due.
  EXPECT_LE(rows_locked_by_the_claim(), 2 * (20 + kSpare));
}

TEST_P(StoreLocks, LetOthersInsertWhileAClaimIsUnderWay) {
  submit(20, 5);

  ASSERT_EQ(claim_and_hold(10), 10U);

  for (const int priority : {0, 4, 5, 6, 10}) {
    EXPECT_TRUE(another_can_insert(priority)) << "of priority " << priority;
  }
}

TEST_P(StoreLocks, LetOthersInsertWhileAClaimThatFoundNothingIsUnderWay) {
  ASSERT_EQ(claim_and_hold(10), 0U);

  EXPECT_TRUE(another_can_insert(5));
}

INSTANTIATE_TEST_SUITE_P(, StoreLocks, testing::Values(Database::kPostgres, Database::kMariadb),
                         database_name);
INSTANTIATE_TEST_SUITE_P(, InnodbLocks, testing::Values(Database::kMariadb), database_name);

}  // namespace
}  // namespace recourse::tests

// What people see of a guarded table, and tables in the engine's own file.
#include "base/clock.h"
#include "store/creates.h"
#include "store/sqlite/sqlite_store.h"
#include "tests/guard_table_fixture.h"

namespace recourse::tests {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Pair;
using ::testing::SizeIs;

class GuardSeeing : public GuardOnDatabase {
 protected:
  void SetUp() override {
    make_bills();
    table_ = guard_bills();
    put(1, "FAIL", "4001", "2026-02-05 12:00:00");
    put(2, "FAIL", "4000", "2026-02-07 12:00:00");
    put(3, "SUCCESS", "2001", "2026-02-06 12:00:00");
    put(4, "SUCCESS", "2000", "");
    put(5, "FAIL", "NULL", "");
    put(6, "SUCCESS", "4000", "");
    put(7, "NEW", "4001", "2026-02-04 12:00:00");
  }
  void put(std::int64_t id, const std::string& status, const std::string& err_status,
           const std::string& start) {
    add_bill(id, status);
    run("UPDATE user_bill SET err_status = " + err_status + ", err_start_time = " +
        (start.empty() ? "NULL" : "'" + start + "'") + " WHERE id = " + std::to_string(id));
  }
  static SqlValue column(const guard::ListedRow& row, const std::string& name) {
    for (const auto& [column, value] : row.columns) {
      if (column == name) return value;
    }
    return std::string("no such column");
  }
  std::vector<std::int64_t> ids(const guard::ListQuery& query) {
    std::vector<std::int64_t> ids;
    const auto rows = table_->list(query, 5s).value();
    for (const auto& row : rows) ids.push_back(std::get<std::int64_t>(column(row, "id")));
    return ids;
  }

  std::unique_ptr<GuardedTable> table_;
};
INSTANTIATE_TEST_SUITE_P(, GuardSeeing, kGuardDatabases, guard_database_name);

// GUARD-15
TEST_P(GuardSeeing, TheListHasEveryErrorNewestFirst) {
  EXPECT_THAT(ids({}), ElementsAre(2, 3, 1, 7, 6));
  EXPECT_EQ(table_->count({}, 5s).value(), 5);
  EXPECT_THAT(ids({.err_statuses = {4001}}), ElementsAre(1, 7));
  EXPECT_THAT(ids({.err_statuses = {4001, 2001}}), ElementsAre(3, 1, 7));
  EXPECT_EQ(table_->count({.err_statuses = {4001, 2001}}, 5s).value(), 3);
  EXPECT_THAT(ids({.err_statuses = {}, .limit = 2}), ElementsAre(2, 3));
  EXPECT_THAT(ids({.err_statuses = {2000}}), ElementsAre(4));
}

// GUARD-15: all columns, times as people write them.
TEST_P(GuardSeeing, AListedRowHasAllItsColumnsInTheirOrder) {
  const auto rows = table_->list({.err_statuses = {4001}, .limit = 1}, 5s).value();
  ASSERT_THAT(rows, SizeIs(1));
  ASSERT_THAT(rows[0].columns, SizeIs(13));
  EXPECT_THAT(rows[0].columns[0], Pair("id", SqlValue(std::int64_t{1})));
  EXPECT_EQ(column(rows[0], "user_id"), SqlValue(std::string("u1")));
  EXPECT_EQ(column(rows[0], "amount"), SqlValue(std::int64_t{7}));
  EXPECT_EQ(column(rows[0], "err_status"), SqlValue(std::int64_t{4001}));
  EXPECT_EQ(column(rows[0], "err_start_time"), SqlValue(std::string("2026-02-05 12:00:00")));
  EXPECT_EQ(column(rows[0], "err_next_retry_time"), SqlValue());
  EXPECT_EQ(rows[0].start_time, std::chrono::sys_days(std::chrono::year(2026) / 2 / 5) + 12h);
}

TEST_P(GuardSeeing, OddColumnsAreListedToo) {
  const std::string bytes = is_postgres() ? "bytea" : is_mariadb() ? "VARBINARY(8)" : "BLOB";
  run("ALTER TABLE user_bill ADD COLUMN price DECIMAL(8,2)");
  run("ALTER TABLE user_bill ADD COLUMN ratio DOUBLE PRECISION");
  run("ALTER TABLE user_bill ADD COLUMN seal " + bytes);
  run("ALTER TABLE user_bill ADD COLUMN day DATE");
  if (is_postgres()) run("ALTER TABLE user_bill ADD COLUMN stamp timestamptz");
  run("UPDATE user_bill SET price = 12.5, ratio = 0.25, day = '2026-02-05'");
  run("UPDATE user_bill SET seal = " + std::string(is_postgres() ? "'\\x00ff'" : "X'00ff'"));
  table_ = open();
  const auto row = table_->list({.err_statuses = {4001}, .limit = 1}, 5s).value().at(0);
  EXPECT_THAT(std::get<std::string>(column(row, "price")), HasSubstr("12.5"));
  EXPECT_THAT(std::get<std::string>(column(row, "ratio")), HasSubstr("0.25"));
  EXPECT_THAT(std::get<std::string>(column(row, "day")), HasSubstr("2026-02-05"));
  EXPECT_FALSE(std::get<std::string>(column(row, "seal")).empty());
}

// watch: changes nothing.
TEST_P(GuardSeeing, TheReportTellsWhatIsStuckAndWhereTheTwoStatesDrift) {
  const auto before = snapshot();
  const auto report = table_->report(5s).value();
  EXPECT_THAT(report.by_err_status,
              ElementsAre(Pair(2000, 1), Pair(2001, 1), Pair(4000, 2), Pair(4001, 2)));
  EXPECT_EQ(report.oldest_start, std::chrono::sys_days(std::chrono::year(2026) / 2 / 4) + 12h);
  EXPECT_EQ(report.healed_unnoticed, 1);
  EXPECT_EQ(report.failed_unmarked, 1);
  EXPECT_EQ(report.other_status, 1);
  EXPECT_EQ(snapshot(), before);
}

TEST_P(GuardSeeing, ATableWithoutColumnsCanBeWatched) {
  run("DROP TABLE user_bill");
  make_bills();
  add_bill(1);
  const auto before = snapshot();
  table_ = open();
  EXPECT_EQ(table_->report(5s).value().failed_unmarked, 1);
  EXPECT_EQ(snapshot(), before);
  EXPECT_FALSE(table_->list({}, 5s));
}

// Of the engine's own file its one writer writes.
TEST(GuardInTheStoresFile, TheStoresOwnWriterGuardsATableBesideItsOwn) {
  const TemporaryDirectory directory;
  const SystemClock clock;
  const std::string path = directory.path() / "engine.db";
  auto store = store::sqlite::open(path, clock, {}).value();
  ASSERT_TRUE(store->creates().transact(5s, [](store::Guest& guest) -> Result<> {
    for (const char* statement :
         {"CREATE TABLE user_bill (id INTEGER PRIMARY KEY, user_id TEXT, status TEXT)",
          "INSERT INTO user_bill VALUES (1, 'u1', 'FAIL')"}) {
      if (const auto done = guest.execute(statement, {}); !done) return fail(done.error());
    }
    return {};
  }));
  const auto in_use = guard::open_table("sqlite:" + path, bill_settings(), 5s);
  ASSERT_FALSE(in_use);
  EXPECT_THAT(in_use.error().message, HasSubstr("in use"));
  Duration moved{};
  const auto table = guard::open_table(store->creates(), bill_settings(), 5s, [&](TimePoint now) {
                       return now + moved;
                     }).value();
  const Result<> ensured = add_all(*table, 10s);
  ASSERT_TRUE(ensured) << ensured.error().message;
  ASSERT_EQ(table->mark_abnormal(RowId(1), "u2", 5s).value().rows, 1);
  moved = 6s;
  EXPECT_THAT(table->due(10, 5s).value(), ElementsAre(RowId(1)));
  const auto claim = table->claim(RowId(1), 20s, 5s).value().claim;
  ASSERT_TRUE(claim);
  EXPECT_TRUE(table->succeeded(*claim, 5s).value());
  EXPECT_EQ(table->find(RowId(1), 5s).value()->err_status, 2001);
  EXPECT_EQ(table->list({}, 5s).value().size(), 1U);
  EXPECT_THAT(table->plan(5s).value().statements, IsEmpty());
}

// A foreign file: its journal stays as it is, and a second opener is refused.
TEST(GuardInAForeignFile, TheJournalStaysAsItIs) {
  const TemporaryDirectory directory;
  const std::string path = directory.path() / "shop.db";
  EXPECT_FALSE(guard::open_table("sqlite:" + path, bill_settings(), 5s));
  {
    auto application = sql::sqlite::open(path, sql::sqlite::Access::kWrite).value();
    ASSERT_TRUE(application->run("PRAGMA journal_mode = DELETE"));
    ASSERT_TRUE(application->run(
        "CREATE TABLE user_bill (id INTEGER PRIMARY KEY, user_id TEXT, status TEXT)"));
  }
  guard::Databases databases;
  const auto table = databases.open_table("sqlite:" + path, bill_settings(), 5s).value();
  ASSERT_TRUE(add_all(*table, 5s));
  EXPECT_FALSE(guard::open_table("sqlite:" + path, bill_settings(), 5s));
  EXPECT_TRUE(databases.open_table("sqlite:" + path, bill_settings(), 5s));
  auto reader = sql::sqlite::open(path, sql::sqlite::Access::kRead).value();
  std::string mode;
  ASSERT_TRUE(
      reader->query("PRAGMA journal_mode", {}, [&](const sql::Row& row) { mode = row.bytes(0); }));
  EXPECT_EQ(mode, "delete");
}

}  // namespace
}  // namespace recourse::tests

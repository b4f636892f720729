// What a guard reads of a large table, and how long that takes.
#include <fmt/format.h>

#include "tests/guard_cost_fixture.h"
#include "tests/support/full_form.h"
#include "tests/support/plans.h"

namespace recourse::tests {
namespace {

// What a scan counts once a minute.
void count(GuardedTable& table) {
  ASSERT_TRUE(table.count({.err_statuses = {4000}}, 30s));
  ASSERT_TRUE(table.count({.err_statuses = {4001}}, 30s));
}

// With the settings that a guard's connections have.
std::unique_ptr<sql::Connection> connect_as_guard(const std::string& url) {
  if (!url.starts_with("postgres")) return connect_to(url);
  return sql::postgres::connect(url, std::chrono::steady_clock::now() + 60s).value();
}

class RecordedDatabase final : public guard::Database {
 public:
  RecordedDatabase(guard::Database& real, const std::string& url, Recorder& recorder)
      : real_(real), connection_(connect_as_guard(url), recorder) {
    connection_.set_deadline(std::chrono::steady_clock::now() + 10min);
  }
  [[nodiscard]] const guard::Dialect& dialect() const override { return real_.dialect(); }
  Result<> use(Duration, Work work) override { return work(connection_); }
  Result<> use_once(Duration, Work work) override { return work(connection_); }

 private:
  guard::Database& real_;
  RecordingConnection connection_;
};

class GuardCost : public OnLargeTable {
 protected:
  // A guard over the same table; what it asks is written down.
  std::unique_ptr<GuardedTable> recorded() {
    const auto database = std::make_shared<RecordedDatabase>(*database_, place_.url(), recorder_);
    return guard::open_table(database, bill_settings(), 10s).value();
  }
  static Database kind() {
    if (is_postgres()) return Database::kPostgres;
    return is_mariadb() ? Database::kMariadb : Database::kSqlite;
  }
  // Of those with this text, by a connection of its own: a server plans anew for it.
  std::vector<Plan> plans(std::string_view text) {
    const auto connection = connect_as_guard(place_.url());
    std::vector<Plan> plans;
    for (const Statement& statement : recorder_.statements()) {
      if (statement.text.find(text) != std::string::npos)
        plans.push_back(explain(kind(), *connection, statement));
    }
    return plans;
  }
  std::int64_t rows_read_by(std::string_view text) {
    const auto connection = connect_as_guard(place_.url());
    std::int64_t rows = 0;
    for (const Statement& statement : recorder_.statements()) {
      if (statement.text.find(text) != std::string::npos)
        rows += rows_read(kind(), *connection, statement);
    }
    return rows;
  }

  Recorder recorder_;
};
INSTANTIATE_TEST_SUITE_P(, GuardCost, kGuardDatabases, guard_database_name);

// GUARD-6: by its indexes, at most twice what is stuck and a thousand; in full, with nothing due in
// 20 ms.
TEST_P(GuardCost, AScanReadsWhatIsStuckAndNotTheTable) {
  make_bills();
  const auto table = guard_bills();
  fill(is_measuring() ? 1'000'000 : 50'000);
  stick();
  scan(*recorded());

  for (const bool analysed : {false, true}) {
    if (analysed) gather_statistics();
    for (const Plan& plan : plans("user_bill")) {
      for (const Access& access : plan.accesses) {
        EXPECT_FALSE(access.is_scan) << plan.text;
        EXPECT_THAT(access.index, ::testing::StartsWith("user_bill_err_")) << plan.text;
      }
    }
    if (is_sqlite()) continue;
    const std::int64_t read = rows_read_by("user_bill");
    RecordProperty("rows_read", static_cast<int>(read));
    EXPECT_LE(read, 2 * kStuck + 1'000);
    EXPECT_GE(read, kStuck / 2) << "the server counted nothing";
  }
  if (!is_measuring()) return;
  Duration best = 1h;
  for (int i = 0; i < 10; ++i) {
    const auto begin = std::chrono::steady_clock::now();
    scan(*table);
    best = std::min(best,
                    std::chrono::duration_cast<Duration>(std::chrono::steady_clock::now() - begin));
  }
  fmt::print("{}: a scan of {} rows with {} stuck and nothing due takes {} us\n", GetParam(), rows_,
             kStuck, best.count());
  EXPECT_LE(best, 20ms);
}

TEST_P(GuardCost, CountingReadsWhatIsStuckAndNotTheTable) {
  make_bills();
  const auto table = guard_bills();
  fill(20'000);
  stick();
  count(*recorded());
  gather_statistics();

  const std::vector<Plan> counts = plans("COUNT(*)");

  EXPECT_EQ(counts.size(), 2U);
  for (const Plan& plan : counts) {
    for (const Access& access : plan.accesses) EXPECT_FALSE(access.is_scan) << plan.text;
  }
}

// GUARD-5: what every business entry asks for.
TEST_P(GuardCost, CheckingAUserReadsThatUsersRows) {
  make_bills();
  const auto table = guard_bills();
  fill(20'000);
  stick();
  const std::string user = cell("user_id", 4);
  ASSERT_THAT(recorded()->open_rows_of(user, 100, 5s).value(),
              ::testing::Not(::testing::IsEmpty()));
  gather_statistics();

  const std::vector<Plan> checks = plans("4000, 4001");

  ASSERT_EQ(checks.size(), 1U);
  for (const Access& access : checks[0].accesses)
    EXPECT_EQ(access.index, "user_bill_err_user") << checks[0].text;
  if (!is_sqlite()) {
    EXPECT_LE(rows_read_by("4000, 4001"), 100);
  }
}

}  // namespace
}  // namespace recourse::tests

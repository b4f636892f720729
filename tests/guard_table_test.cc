// One guarded table, on every database: its columns, and what becomes of its rows.
#include <algorithm>

#include "tests/guard_table_fixture.h"

namespace recourse::tests {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

class GuardTable : public GuardOnDatabase {};
INSTANTIATE_TEST_SUITE_P(, GuardTable, kGuardDatabases, guard_database_name);

// GUARD-2
TEST_P(GuardTable, NineColumnsAreAddedWhereTheyAreMissingAndNothingElseChanges) {
  make_bills();
  add_bill(1);
  const auto before = snapshot();
  const auto table = open();
  EXPECT_THAT(table->plan(10s).value().statements, Not(IsEmpty()));
  EXPECT_FALSE(table->due(10, 5s));

  ASSERT_TRUE(add_all(*table, 60s));

  EXPECT_THAT(table->plan(10s).value().statements, IsEmpty());
  EXPECT_TRUE(table->due(10, 5s));
  ASSERT_EQ(snapshot().size(), 1U);
  EXPECT_EQ(snapshot()[0], before[0] + "|||||||||");
  for (const char* column :
       {"err_status", "err_start_time", "err_retry_count", "err_next_retry_time",
        "err_min_interval", "err_timeout", "err_submit_manual_status", "err_next_remind_staff_time",
        "err_manual_notify_count"}) {
    EXPECT_EQ(cell(column), "NULL") << column;
  }
  ASSERT_TRUE(add_all(*table, 60s));
}

// GUARD-2
TEST_P(GuardTable, ColumnsThatAreThereAreLeftAsTheyAre) {
  make_bills();
  run("ALTER TABLE user_bill ADD COLUMN err_status INT");
  run("ALTER TABLE user_bill ADD COLUMN err_start_time " + time_type());
  add_bill(1);
  run("UPDATE user_bill SET err_status = 4000");

  const auto table = guard_bills();

  EXPECT_EQ(cell("err_status"), "4000");
  EXPECT_EQ(table->due(10, 5s).value(), std::vector<RowId>{RowId(1)});
}

// A server may see the end of a session late: the next one need not wait for that.
TEST_P(GuardTable, ATurnToChangeTheTableIsGivenBackWhileItsSessionGoesOn) {
  if (!is_postgres()) GTEST_SKIP() << "only PostgreSQL's changes have turns";
  make_bills();
  (void)open();
  const guard::Dialect& dialect = database_->dialect();
  auto first = connect_to(place_.url());
  auto second = connect_to(place_.url());
  ASSERT_TRUE(dialect.take_turn(*first, "user_bill").value());
  ASSERT_FALSE(dialect.take_turn(*second, "user_bill").value());

  dialect.end_turn(*first, "user_bill");

  EXPECT_TRUE(dialect.take_turn(*second, "user_bill").value());
}

// GUARD-5: every business entry asks.
TEST_P(GuardTable, WhereAUserFieldIsNamedItsRowsHaveAnIndex) {
  make_bills();
  GuardSettings nobodys = bill_settings();
  nobodys.user_field = "";
  const auto names_user = [](const std::string& statement) {
    return statement.find("user_bill_err_user") != std::string::npos;
  };
  const auto without = open(nobodys)->plan(10s).value().statements;
  EXPECT_TRUE(std::ranges::none_of(without, names_user));
  const auto with = open()->plan(10s).value().statements;
  EXPECT_EQ(std::ranges::count_if(with, names_user), 1);
  EXPECT_TRUE(names_user(with.back())) << "the others come first";
}

// GUARD-5
TEST_P(GuardTable, MarkedRowsWaitForTheirFirstRetry) {
  make_bills();
  add_bill(1);
  const auto table = guard_bills();

  const auto marked = table->mark_abnormal(RowId(1), "u-new", 5s).value();

  EXPECT_EQ(marked.rows, 1);
  EXPECT_EQ(marked.err_status, 4000);
  const Row row = table->find(RowId(1), 5s).value().value();
  EXPECT_EQ(row.err_status, 4000);
  EXPECT_EQ(row.retries, 0);
  EXPECT_EQ(row.min_interval, 5s);
  EXPECT_EQ(row.timeout, 180s);
  EXPECT_EQ(row.business_status, "FAIL");
  ASSERT_TRUE(row.start_time && row.next_retry);
  EXPECT_EQ(*row.next_retry - *row.start_time, 5s);
  EXPECT_EQ(cell("user_id"), "u-new");
  EXPECT_THAT(table->due(10, 5s).value(), IsEmpty());
  move(6s);
  EXPECT_EQ(table->due(10, 5s).value(), std::vector<RowId>{RowId(1)});
}

// GUARD-9, GUARD-10: with a maximum of 2 and an interval of 5 s.
TEST_P(GuardTable, FailuresWaitLongerAndTheThirdGoesToAPerson) {
  make_bills();
  add_bill(1);
  const auto table = guard_bills();
  mark_due(*table, RowId(1));

  for (int failure = 1; failure <= 2; ++failure) {
    const auto claim = table->claim(RowId(1), 20s, 5s).value().claim;
    ASSERT_TRUE(claim) << failure;
    const TimePoint now = table->now(5s).value();
    const auto after = table->failed(*claim, 5s).value().value();
    EXPECT_EQ(after.retries, failure);
    ASSERT_TRUE(after.next_retry);
    EXPECT_GE(*after.next_retry, now + 5s * failure);
    EXPECT_LE(*after.next_retry, now + 5s * failure + 2s);
    EXPECT_EQ(cell("err_retry_count"), std::to_string(failure));
    move(5s * failure + 2s);
  }
  const auto claim = table->claim(RowId(1), 20s, 5s).value().claim;
  ASSERT_TRUE(claim);
  const auto after = table->failed(*claim, 5s).value().value();

  EXPECT_FALSE(after.next_retry);
  EXPECT_EQ(cell("err_status"), "4001");
  EXPECT_EQ(cell("err_next_retry_time"), "NULL");
  EXPECT_EQ(cell("err_next_remind_staff_time"), "NULL");
  EXPECT_EQ(cell("status"), "FAIL");
}

}  // namespace
}  // namespace recourse::tests

// Rows that an application has locked in a long transaction, at the head of whatever is looked for:
// nobody waits for them, and the others go on.
#include "tests/guard_table_fixture.h"

namespace recourse::tests {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::SizeIs;
using ::testing::UnorderedElementsAre;

class GuardLocked : public GuardOnDatabase {
 protected:
  void SetUp() override {
    if (is_sqlite()) GTEST_SKIP() << "SQLite locks no rows";
    make_bills();
    table_ = guard_bills();
    now_ = table_->now(5s).value();
  }
  // Rows 1 to 8.
  void put(const std::string& columns, const std::string& status = "FAIL") {
    for (std::int64_t id = 1; id <= 8; ++id) add_bill(id, status);
    run("UPDATE user_bill SET " + columns);
  }
  // Rows 1 to 5, until release().
  void lock() {
    other_ = connect_to(place_.url());
    ASSERT_TRUE(other_->begin());
    ASSERT_TRUE(other_->execute("UPDATE user_bill SET amount = 8 WHERE id <= 5", {}));
    begun_ = std::chrono::steady_clock::now();
  }
  // One wait for a lock alone would take longer.
  void expect_no_wait() { EXPECT_LT(std::chrono::steady_clock::now() - begun_, 1s); }
  [[nodiscard]] std::string in(Duration ahead) const {
    return "'" + guard::WallClock(TimeZone()).written(now_ + ahead) + "'";
  }

  std::unique_ptr<GuardedTable> table_;
  TimePoint now_;
  std::unique_ptr<sql::Connection> other_;
  std::chrono::steady_clock::time_point begun_;
};
INSTANTIATE_TEST_SUITE_P(, GuardLocked, kGuardDatabases, guard_database_name);

// GUARD-7
TEST_P(GuardLocked, TheOthersAreHealed) {
  put("err_status = 4000", "SUCCESS");
  lock();

  // Fewer than are locked: they take no place from the others.
  const auto healed = table_->heal(3, 30s).value();

  expect_no_wait();
  EXPECT_EQ(healed.became_2001, 3);
  other_->rollback();
  EXPECT_EQ(table_->heal(500, 10s).value().became_2001, 5);
}

// GUARD-11
TEST_P(GuardLocked, TheOthersAreGivenToAPerson) {
  put("err_status = 4000, err_start_time = " + in(-1000s));
  lock();

  EXPECT_THAT(table_->promote(3, 30s).value(), UnorderedElementsAre(RowId(6), RowId(7), RowId(8)));

  expect_no_wait();
  other_->rollback();
  EXPECT_THAT(table_->promote(500, 10s).value(), SizeIs(5));
}

// GUARD-12
TEST_P(GuardLocked, TheOthersAreRemindedOf) {
  put("err_status = 4001, err_start_time = " + in(-60s));
  run("UPDATE user_bill SET err_next_remind_staff_time = " + in(-30s) + " WHERE id IN (1, 2, 8)");
  lock();

  EXPECT_THAT(table_->take_reminders(3, 30s, 30s).value(), SizeIs(3));

  expect_no_wait();
  other_->rollback();
  EXPECT_THAT(table_->take_reminders(10, 30s, 10s).value(), SizeIs(5));
}

// GUARD-8: whoever runs rows turns to the next one at once.
TEST_P(GuardLocked, ALockedRowIsNotClaimedAndNotWaitedFor) {
  put("err_status = 4000, err_start_time = " + in(-60s));
  lock();

  for (std::int64_t id = 1; id <= 5; ++id) {
    const auto answer = table_->claim(RowId(id), 20s, 5s).value();
    EXPECT_FALSE(answer.claim);
    EXPECT_EQ(answer.standing, Standing::kLater);
    EXPECT_GT(answer.wait, 0s);
  }
  EXPECT_TRUE(table_->claim(RowId(6), 20s, 5s).value().claim);

  expect_no_wait();
  other_->rollback();
  EXPECT_TRUE(table_->claim(RowId(1), 20s, 5s).value().claim);
}

// User code that works on its own row keeps nobody else's token from being pushed.
TEST_P(GuardLocked, TheOthersAreHeldForLonger) {
  put("err_status = 4000, err_start_time = " + in(-60s));
  std::vector<Claim> claims;
  for (std::int64_t id = 1; id <= 8; ++id)
    claims.push_back(table_->claim(RowId(id), 20s, 5s).value().claim.value());
  const TimePoint before = claims[0].token;
  move(10s);
  lock();

  const auto pushed = table_->push(claims, 20s, 5s).value();

  expect_no_wait();
  EXPECT_THAT(std::span(pushed).first(5), Each(Pushed::kLocked));
  EXPECT_THAT(std::span(pushed).last(3), Each(Pushed::kHeld));
  EXPECT_EQ(claims[0].token, before);
  EXPECT_GE(claims[7].token, before + 9s);
  other_->rollback();
  EXPECT_THAT(table_->push(claims, 20s, 5s).value(), Each(Pushed::kHeld));
  for (const Claim& claim : claims) EXPECT_TRUE(table_->succeeded(claim, 5s).value());
}

// A child row that refers to it locks its key alone, and that is in nobody's way.
TEST_P(GuardLocked, ARowThatOthersReferToIsNotTakenForALockedOne) {
  if (!is_postgres()) GTEST_SKIP() << "only PostgreSQL has such a lock";
  put("err_status = 4000", "SUCCESS");
  run("CREATE TABLE item (id INT PRIMARY KEY, bill BIGINT REFERENCES user_bill (id))");
  auto other = connect_to(place_.url());
  ASSERT_TRUE(other->begin());
  ASSERT_TRUE(other->execute("INSERT INTO item VALUES (1, 1)", {}));

  EXPECT_EQ(table_->heal(500, 5s).value().became_2001, 8);
}

}  // namespace
}  // namespace recourse::tests

// The four steps of a scan, with the source's exact conditions, on every database.
#include "tests/guard_table_fixture.h"

namespace recourse::tests {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using ::testing::UnorderedElementsAre;

class GuardScan : public GuardOnDatabase {
 protected:
  void SetUp() override {
    make_bills();
    table_ = guard_bills();
    now_ = table_->now(5s).value();
  }
  // A row as somebody wrote it; times as seconds from now, in the table's zone (UTC here).
  void put(std::int64_t id, const std::string& status, const std::string& columns) {
    add_bill(id, status);
    if (!columns.empty())
      run("UPDATE user_bill SET " + columns + " WHERE id = " + std::to_string(id));
  }
  [[nodiscard]] std::string in(Duration ahead) const {
    return "'" + guard::WallClock(TimeZone()).written(now_ + ahead) + "'";
  }

  std::unique_ptr<GuardedTable> table_;
  TimePoint now_;
};
INSTANTIATE_TEST_SUITE_P(, GuardScan, kGuardDatabases, guard_database_name);

// GUARD-7
TEST_P(GuardScan, HealsWhatLacksAStartTimeOrHasSucceededAndTouchesNothingElse) {
  put(1, "FAIL", "err_status = 4000");
  put(2, "FAIL", "err_status = 4001");
  put(3, "SUCCESS", "err_status = 4000, err_retry_count = 1, err_start_time = " + in(-60s));
  put(4, "SUCCESS", "err_status = 4001");
  put(5, "SUCCESS", "err_status = 2000");
  put(6, "SUCCESS", "");
  put(7, "FAIL", "err_status = 2002");
  put(8, "NEW", "err_status = 4000, err_start_time = " + in(-60s));
  put(9, "SUCCESS", "err_status = 1234");
  const auto before = snapshot();

  const guard::Healed healed = table_->heal(500, 10s).value();

  EXPECT_EQ(healed.got_start_time, 3);
  EXPECT_EQ(healed.became_2001, 2);
  EXPECT_EQ(table_->find(RowId(1), 5s).value()->err_status, 4000);
  EXPECT_TRUE(table_->find(RowId(1), 5s).value()->start_time);
  EXPECT_EQ(table_->find(RowId(2), 5s).value()->err_status, 4001);
  EXPECT_EQ(cell("err_status", 3), "2001");
  EXPECT_EQ(cell("err_retry_count", 3), "1");
  EXPECT_EQ(cell("err_status", 4), "2001");
  const auto after = snapshot();
  for (const std::size_t untouched : {4U, 5U, 6U, 7U, 8U})
    EXPECT_EQ(after[untouched], before[untouched]);
  EXPECT_EQ(table_->heal(500, 10s).value().became_2001, 0);
}

// GUARD-8
TEST_P(GuardScan, PicksWaitingRowsWithoutATimeFirstAndThenTheLongestDue) {
  put(1, "FAIL", "err_status = 4000, err_next_retry_time = " + in(-5s));
  put(2, "FAIL", "err_status = 4000, err_next_retry_time = " + in(-50s));
  put(3, "FAIL", "err_status = 4000");
  put(4, "FAIL", "err_status = 4000, err_next_retry_time = " + in(60s));
  put(5, "NEW", "err_status = 4000, err_next_retry_time = " + in(-5s));
  put(6, "SUCCESS", "err_status = 4000");
  put(7, "FAIL", "err_status = 4001");
  put(8, "FAIL", "err_status = 2000");
  put(9, "FAIL", "");

  EXPECT_THAT(table_->due(10, 5s).value(), ElementsAre(RowId(3), RowId(2), RowId(1)));
  EXPECT_THAT(table_->due(2, 5s).value(), ElementsAre(RowId(3), RowId(2)));
}

// GUARD-11, and Settled: the row's own window wins.
TEST_P(GuardScan, RowsPastTheirWindowGoToAPerson) {
  const std::string times =
      "err_status = 4000, err_retry_count = 1, err_next_retry_time = " + in(30s) +
      ", err_next_remind_staff_time = " + in(30s);
  put(1, "FAIL", times + ", err_start_time = " + in(-181s));
  put(2, "FAIL", times + ", err_start_time = " + in(-100s));
  put(3, "FAIL", times + ", err_timeout = 50, err_start_time = " + in(-100s));
  put(4, "FAIL", times + ", err_timeout = 500, err_start_time = " + in(-400s));
  put(5, "NEW", times + ", err_start_time = " + in(-400s));
  put(6, "FAIL", "err_status = 4000");
  put(7, "FAIL", "err_status = 2000, err_start_time = " + in(-400s));

  EXPECT_THAT(table_->promote(10, 10s).value(), UnorderedElementsAre(RowId(1), RowId(3), RowId(5)));

  EXPECT_EQ(cell("err_status", 1), "4001");
  EXPECT_EQ(cell("err_next_retry_time", 1), "NULL");
  EXPECT_EQ(cell("err_next_remind_staff_time", 1), "NULL");
  EXPECT_EQ(cell("err_retry_count", 1), "1");
  for (const std::int64_t id : {2, 4, 6}) EXPECT_EQ(cell("err_status", id), "4000") << id;
  EXPECT_EQ(cell("err_status", 7), "2000");
  EXPECT_THAT(table_->promote(10, 10s).value(), IsEmpty());
}

// GUARD-11: the last retry of a row that is due is not thrown away.
TEST_P(GuardScan, PastItsWindowARowThatIsDueOrRunsIsLeftToItsRunForAWhile) {
  const std::string over = "err_status = 4000, err_start_time = " + in(-181s);
  put(1, "FAIL", over);
  put(2, "FAIL", over + ", err_next_retry_time = " + in(-1s));
  put(3, "FAIL", over + ", err_next_retry_time = " + in(10s));
  put(4, "FAIL", over + ", err_next_retry_time = " + in(30s));
  EXPECT_THAT(table_->promote(10, 10s).value(), ElementsAre(RowId(4)));
  const auto claim = table_->claim(RowId(2), guard::hold_of(bill_settings()), 5s).value().claim;
  ASSERT_TRUE(claim);
  EXPECT_THAT(table_->promote(10, 10s).value(), IsEmpty());

  EXPECT_TRUE(table_->succeeded(*claim, 5s).value());

  EXPECT_EQ(cell("err_status", 2), "2001");
  move(guard::grace_of(bill_settings()));
  EXPECT_THAT(table_->promote(10, 10s).value(), UnorderedElementsAre(RowId(1), RowId(3)));
}

TEST_P(GuardScan, GivesToPeopleAtMostWhatItIsAskedFor) {
  for (std::int64_t id = 1; id <= 5; ++id)
    put(id, "FAIL", "err_status = 4000, err_start_time = " + in(-1000s));
  EXPECT_THAT(table_->promote(3, 10s).value(), SizeIs(3));
  EXPECT_THAT(table_->promote(3, 10s).value(), SizeIs(2));
}

TEST_P(GuardScan, HealsAtMostWhatItIsAskedForAndSaysThatThereIsMore) {
  for (std::int64_t id = 1; id <= 3; ++id) put(id, "FAIL", "err_status = 4001");
  for (std::int64_t id = 4; id <= 6; ++id) put(id, "SUCCESS", "err_status = 4000");
  std::int64_t written = 0;
  int batches = 0;
  for (bool more = true; more && batches < 10; ++batches) {
    const auto healed = table_->heal(2, 10s).value();
    EXPECT_LE(healed.became_2001, 2);
    EXPECT_LE(healed.got_start_time, 2);
    written += healed.became_2001;
    more = healed.more;
  }
  EXPECT_EQ(written, 3);
  EXPECT_LE(batches, 5);
  EXPECT_EQ(number("SELECT COUNT(*) FROM user_bill WHERE err_status = 4001 AND err_start_time IS "
                   "NOT NULL"),
            3);
}

// Each row may have a window of its own: they are asked for a few at a time, and one scan is
// enough.
TEST_P(GuardScan, RowsOfManyDifferentWindowsGoToAPersonInOneScan) {
  for (std::int64_t id = 1; id <= 80; ++id) {
    put(id, "FAIL",
        "err_status = 4000, err_timeout = " + std::to_string(id) +
            ", err_start_time = " + in(-1000s));
  }
  put(100, "FAIL", "err_status = 4000, err_timeout = 5000, err_start_time = " + in(-1000s));
  std::size_t promoted = 0;
  promoted += table_->promote(500, 10s).value().size();
  EXPECT_EQ(promoted, 80U);
  EXPECT_EQ(cell("err_status", 100), "4000");
  put(101, "FAIL", "err_status = 4000, err_timeout = 1, err_start_time = " + in(-1000s));
  promoted += table_->promote(500, 10s).value().size();
  EXPECT_EQ(promoted, 81U) << "the shortest come again";
}

// A row whose task killed its process three times; not one whose error is younger than that.
TEST_P(GuardScan, ADueRowIsGivenToAPersonBeforeItsWindowIsOver) {
  const std::string times = "err_retry_count = 1, err_start_time = " + in(-60s);
  put(1, "FAIL", "err_status = 4000, " + times + ", err_next_retry_time = " + in(-1s));
  put(2, "FAIL", "err_status = 4000, " + times);
  put(3, "FAIL", "err_status = 4000, " + times + ", err_next_retry_time = " + in(30s));
  put(4, "SUCCESS", "err_status = 4000, " + times);
  put(5, "FAIL", "err_status = 2002, " + times);
  const auto give = [&](std::int64_t id, Duration ago) {
    return table_->give_to_person(RowId(id), now_ - ago, 5s).value();
  };

  EXPECT_FALSE(give(1, 61s)) << "its error began after that";
  EXPECT_TRUE(give(1, 10s));
  EXPECT_TRUE(give(2, 10s));
  EXPECT_FALSE(give(3, 10s)) << "it waits, or somebody runs it";
  EXPECT_FALSE(give(4, 10s));
  EXPECT_FALSE(give(5, 10s));

  EXPECT_EQ(cell("err_status", 1), "4001");
  EXPECT_EQ(cell("err_next_retry_time", 1), "NULL");
  EXPECT_EQ(cell("err_retry_count", 1), "1");
  EXPECT_EQ(cell("err_status", 3), "4000");
  EXPECT_EQ(cell("err_status", 4), "4000");
  EXPECT_EQ(cell("err_status", 5), "2002");
}

// GUARD-12
TEST_P(GuardScan, RemindersComeFartherApartAndOnlyThoseSentCount) {
  put(1, "FAIL", "err_status = 4001, err_start_time = " + in(-60s));
  const auto first = table_->take_reminders(10, 30s, 5s).value();
  ASSERT_THAT(first, SizeIs(1));
  EXPECT_EQ(first[0].row.notify_count, 0);
  EXPECT_THAT(table_->take_reminders(10, 30s, 5s).value(), IsEmpty());

  ASSERT_TRUE(table_->reminded(first[0], true, 5s).value());

  EXPECT_EQ(cell("err_submit_manual_status"), "2000");
  EXPECT_EQ(cell("err_manual_notify_count"), "1");
  const auto ahead = [&] {
    return *table_->find(RowId(1), 5s).value()->next_remind - table_->now(5s).value();
  };
  EXPECT_GT(ahead(), 9s);
  EXPECT_LE(ahead(), 11s);
  move(12s);
  const auto second = table_->take_reminders(10, 30s, 5s).value();
  ASSERT_THAT(second, SizeIs(1));
  ASSERT_TRUE(table_->reminded(second[0], false, 5s).value());
  EXPECT_EQ(cell("err_submit_manual_status"), "4000");
  EXPECT_EQ(cell("err_manual_notify_count"), "1");
  EXPECT_GT(ahead(), 19s);
  EXPECT_LE(ahead(), 21s);
}

// GUARD-12
TEST_P(GuardScan, OnlyRowsThatNeedAPersonAndAreStillFailedAreRemindedOf) {
  put(1, "SUCCESS", "err_status = 4001");
  put(2, "NEW", "err_status = 4001");
  put(3, "FAIL", "err_status = 4000");
  put(4, "FAIL", "err_status = 4001, err_next_remind_staff_time = " + in(30s));
  put(5, "FAIL", "err_status = 4001, err_next_remind_staff_time = " + in(-30s));
  put(6, "FAIL", "err_status = 2002");

  const auto taken = table_->take_reminders(10, 30s, 5s).value();

  ASSERT_THAT(taken, SizeIs(1));
  EXPECT_EQ(taken[0].row.id, RowId(5));
}

TEST_P(GuardScan, AReminderOfARowThatAPersonHasEndedIsNotWrittenDown) {
  put(1, "FAIL", "err_status = 4001");
  const auto taken = table_->take_reminders(10, 30s, 5s).value();
  ASSERT_THAT(taken, SizeIs(1));
  ASSERT_EQ(table_->processing_successful(RowId(1), 5s).value(), 1);

  EXPECT_FALSE(table_->reminded(taken[0], true, 5s).value());

  EXPECT_EQ(cell("err_submit_manual_status"), "4002");
}

TEST_P(GuardScan, AReminderWhoseTellerDiedComesBackByItself) {
  put(1, "FAIL", "err_status = 4001");
  const auto lost = table_->take_reminders(10, 5s, 5s).value();
  ASSERT_THAT(lost, SizeIs(1));
  move(7s);
  const auto again = table_->take_reminders(10, 5s, 5s).value();
  ASSERT_THAT(again, SizeIs(1));
  EXPECT_FALSE(table_->reminded(lost[0], true, 5s).value());
  EXPECT_TRUE(table_->reminded(again[0], true, 5s).value());
}

// GUARD-12: a notice that is held back, or was dropped when its notifier ended, is no failure.
TEST_P(GuardScan, AReminderThatIsPutOffKeepsItsCountAndItsStatus) {
  put(1, "FAIL", "err_status = 4001");
  auto taken = table_->take_reminders(10, 5s, 5s).value();
  ASSERT_THAT(taken, SizeIs(1));
  const auto stale = taken[0];
  ASSERT_TRUE(table_->put_off(taken[0], 30s, 5s).value());
  EXPECT_GT(taken[0].token, stale.token);
  EXPECT_FALSE(table_->reminded(stale, true, 5s).value());
  move(10s);
  EXPECT_THAT(table_->take_reminders(10, 5s, 5s).value(), IsEmpty()) << "held for longer";
  EXPECT_EQ(cell("err_submit_manual_status"), "NULL");
  EXPECT_EQ(cell("err_manual_notify_count"), "NULL");

  move(30s);

  auto again = table_->take_reminders(10, 5s, 5s).value();
  ASSERT_THAT(again, SizeIs(1));
  EXPECT_FALSE(table_->put_off(taken[0], 30s, 5s).value()) << "another's by now";
  ASSERT_EQ(table_->processing_successful(RowId(1), 5s).value(), 1);
  EXPECT_FALSE(table_->put_off(again[0], 5s, 5s).value());
}

// An application holds some of the rows: the others are not made to wait for them.
TEST_P(GuardScan, ARowThatTheApplicationHasLockedIsLeftForTheNextScan) {
  if (is_sqlite()) GTEST_SKIP() << "SQLite locks no rows";
  for (std::int64_t id = 1; id <= 4; ++id) put(id, "SUCCESS", "err_status = 4000");
  auto other = connect_to(place_.url());
  ASSERT_TRUE(other->begin());
  ASSERT_TRUE(other->execute("UPDATE user_bill SET amount = 8 WHERE id = 2", {}));

  const auto healed = table_->heal(500, 30s);

  ASSERT_TRUE(healed) << healed.error().message;
  EXPECT_EQ(healed->became_2001, 3);
  other->rollback();
  EXPECT_EQ(table_->heal(500, 10s).value().became_2001, 1);
}

}  // namespace
}  // namespace recourse::tests

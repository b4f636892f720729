// Tables as others have made them: their types, their time zones, their rights.
#include "tests/guard_table_fixture.h"

namespace recourse::tests {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

class GuardTypes : public GuardOnDatabase {
 protected:
  TimePoint at(int year, unsigned month, unsigned day, Duration time) {
    return std::chrono::sys_days(std::chrono::year(year) / static_cast<int>(month) /
                                 static_cast<int>(day)) +
           time;
  }
  void move_to(GuardedTable& table, TimePoint moment) { move(moment - table.now(5s).value()); }
};
INSTANTIATE_TEST_SUITE_P(, GuardTypes, kGuardDatabases, guard_database_name);

// GUARD-4: ids are numbers or text.
TEST_P(GuardTypes, IdsMayBeTexts) {
  const std::string id = "0f8fad5b-d9cb-469f-a165-70867728950e";
  make_bills(is_postgres() ? "uuid" : "VARCHAR(36)");
  run("INSERT INTO user_bill (id, status) VALUES ('" + id + "', 'FAIL')");
  const auto table = guard_bills();

  const RowId row =
      table->parse_id(is_postgres() ? "0F8FAD5B-D9CB-469F-A165-70867728950E" : id).value();
  EXPECT_EQ(row, RowId(id));
  mark_due(*table, row);
  EXPECT_THAT(table->due(10, 5s).value(), ElementsAre(row));
  const auto claim = table->claim(row, 20s, 5s).value().claim;
  ASSERT_TRUE(claim);
  EXPECT_TRUE(table->succeeded(*claim, 5s).value());
  EXPECT_EQ(number("SELECT COUNT(*) FROM user_bill WHERE status = 'SUCCESS'"), 1);
  EXPECT_EQ(table->claim(RowId("1' OR '1'='1"), 20s, 5s).has_value(), !is_postgres());
}

// I13: a write touches one row.
TEST_P(GuardTypes, ANumberMeansTheTextThatTheColumnHas) {
  make_bills("VARCHAR(36)");
  run("INSERT INTO user_bill (id, status) VALUES ('10', 'FAIL'), ('010', 'FAIL'), ('x', 'FAIL')");
  const auto table = guard_bills();

  EXPECT_EQ(table->mark_abnormal(RowId(10), std::nullopt, 5s).value().rows, 1);
  EXPECT_EQ(number("SELECT COUNT(*) FROM user_bill WHERE err_status = 4000"), 1);
  EXPECT_TRUE(table->find(RowId(10), 5s).value());
  EXPECT_EQ(table->processing_successful(RowId(10), 5s).value(), 1);
  EXPECT_EQ(number("SELECT COUNT(*) FROM user_bill WHERE status = 'SUCCESS'"), 1);
}

// I13
TEST_P(GuardTypes, AnIdThatRowsMayShareIsRefused) {
  run("CREATE TABLE user_bill (id BIGINT NOT NULL, user_id VARCHAR(40), status VARCHAR(20))");
  run("CREATE UNIQUE INDEX both_of_them ON user_bill (id, user_id)");
  const std::shared_ptr<guard::Database> database = guard::open_database(place_.url()).value();
  const auto refused = guard::open_table(database, bill_settings(), 10s);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::kInvalid);
  EXPECT_THAT(refused.error().message, HasSubstr("id_field"));
  EXPECT_THAT(refused.error().message, HasSubstr("unique index"));

  run("CREATE UNIQUE INDEX alone ON user_bill (id)");

  EXPECT_TRUE(guard::open_table(database, bill_settings(), 10s));
}

TEST_P(GuardTypes, IdsThatAreNumbersAreReadAsSuch) {
  make_bills();
  const auto table = guard_bills();
  EXPECT_EQ(table->parse_id("7").value(), RowId(7));
  EXPECT_EQ(table->parse_id("-7").value(), RowId(-7));
  for (const char* wrong : {"", "x", "7x", " 7", "7.0", "9223372036854775808"}) {
    const auto id = table->parse_id(wrong);
    ASSERT_FALSE(id) << wrong;
    EXPECT_EQ(id.error().code, ErrorCode::kInvalid);
  }
}

TEST_P(GuardTypes, TheBusinessStatusMayBeANumber) {
  make_bills("BIGINT", "SMALLINT");
  run("INSERT INTO user_bill (id, status) VALUES (1, 2), (2, 1), (3, 9)");
  GuardSettings settings = bill_settings();
  settings.success_value = "1";
  settings.fail_value = "2";
  const auto table = guard_bills(settings);
  run("UPDATE user_bill SET err_status = 4000");
  EXPECT_EQ(table->heal(500, 5s).value().became_2001, 1);
  EXPECT_THAT(table->due(10, 5s).value(), ElementsAre(RowId(1)));
  const auto claim = table->claim(RowId(1), 20s, 5s).value().claim;
  ASSERT_TRUE(claim);
  EXPECT_EQ(claim->row.business_status, "2");
  EXPECT_TRUE(table->succeeded(*claim, 5s).value());
  EXPECT_EQ(cell("status"), "1");

  settings.fail_value = "FAIL";
  const auto refused = guard::open_table(database_, settings, 5s);
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message, HasSubstr("guard.fail_value must be a whole number"));
}

TEST_P(GuardTypes, ColumnsOfTheWrongTypeAreRefusedByName) {
  make_bills();
  run("ALTER TABLE user_bill ADD COLUMN err_status VARCHAR(20)");
  run("ALTER TABLE user_bill ADD COLUMN err_start_time INT");
  database_ = guard::open_database(place_.url()).value();
  const auto opened = guard::open_table(database_, bill_settings(), 5s);
  ASSERT_FALSE(opened);
  EXPECT_THAT(opened.error().message, HasSubstr("guard.err_status must be a column of whole"));
  EXPECT_THAT(opened.error().message, HasSubstr("guard.err_start_time must be a column of date"));
}

// Settled: times in the guard's zone.
TEST_P(GuardTypes, TimesAreKeptInTheGuardsZone) {
  make_bills();
  add_bill(1);
  GuardSettings settings = bill_settings();
  settings.time_zone = "Asia/Shanghai";
  const auto table = guard_bills(settings);
  move_to(*table, at(2026, 2, 5, 4h));

  ASSERT_EQ(table->mark_abnormal(RowId(1), std::nullopt, 5s).value().rows, 1);

  EXPECT_THAT(cell("err_start_time"), HasSubstr("2026-02-05 12:00:0"));
  const Row row = table->find(RowId(1), 5s).value().value();
  EXPECT_GE(*row.start_time, at(2026, 2, 5, 4h));
  EXPECT_LE(*row.start_time, at(2026, 2, 5, 4h) + 10s);
  settings.time_zone = "Asia/Nowhere";
  const auto refused = guard::open_table(database_, settings, 5s);
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message, HasSubstr("guard.time_zone"));
}

// A time with a zone of its own is the same moment whatever the table's zone is.
TEST_P(GuardTypes, ColumnsThatKnowTheirZoneAreRight) {
  if (is_sqlite()) GTEST_SKIP() << "SQLite has no such type";
  make_bills();
  const std::string type = is_postgres() ? "timestamptz" : "TIMESTAMP NULL";
  run("ALTER TABLE user_bill ADD COLUMN err_next_retry_time " + type);
  add_bill(1);
  GuardSettings settings = bill_settings();
  settings.time_zone = "Asia/Shanghai";
  const auto table = guard_bills(settings);
  mark_due(*table, RowId(1));
  EXPECT_THAT(table->due(10, 5s).value(), ElementsAre(RowId(1)));
  const auto claim = table->claim(RowId(1), 20s, 5s).value().claim;
  ASSERT_TRUE(claim);
  EXPECT_THAT(table->due(10, 5s).value(), IsEmpty());
  EXPECT_EQ(
      number(is_postgres()
                 ? "SELECT CAST(extract(epoch FROM err_next_retry_time) AS bigint) FROM user_bill"
                 : "SELECT UNIX_TIMESTAMP(err_next_retry_time) FROM user_bill"),
      std::chrono::floor<std::chrono::seconds>(claim->token).time_since_epoch().count());
  EXPECT_TRUE(table->failed(*claim, 5s).value());
}

// A clock moved across both summer-time changes runs no row twice at once: whoever asks while
// somebody has the row is refused, and it comes back within the hour that the change took.
TEST_P(GuardTypes, BothSummerTimeChangesLeaveAClaimToOne) {
  make_bills();
  add_bill(1);
  GuardSettings settings = bill_settings();
  settings.time_zone = "Europe/Berlin";
  settings.timeout_window = std::chrono::hours(24 * 300);
  settings.max_retries = 1'000;
  const auto table = guard_bills(settings);
  for (const TimePoint change : {at(2027, 3, 28, 1h), at(2027, 10, 31, 1h)}) {
    move_to(*table, change - 90min);
    run("UPDATE user_bill SET err_status = NULL, err_start_time = NULL, err_next_retry_time = "
        "NULL");
    mark_due(*table, RowId(1));
    std::optional<Claim> held;
    int claims = 0;
    for (int minute = 0; minute < 240; minute += 7) {
      const TimePoint now = table->now(5s).value();
      const auto answer = table->claim(RowId(1), 10min, 5s).value();
      const bool may_have_it = !held || held->token <= now;
      if (answer.claim) {
        EXPECT_TRUE(may_have_it) << minute;
        if (held) {
          EXPECT_FALSE(table->succeeded(*held, 5s).value());
        }
        held = answer.claim;
        EXPECT_GE(held->token, now + 10min);
        EXPECT_LE(held->token, now + 10min + 1h + 1s);
        ++claims;
      }
      move(7min);
    }
    EXPECT_GE(claims, 8);
  }
}

// GUARD-11, GUARD-12: a clock that goes back by an hour gives nobody a row, or a reminder, too
// early.
TEST_P(GuardTypes, AcrossBothSummerTimeChangesNobodyIsToldTooEarly) {
  make_bills();
  add_bill(1);
  GuardSettings settings = bill_settings();
  settings.time_zone = "Europe/Berlin";
  settings.timeout_window = 80min;
  settings.remind_every = 20min;
  const auto table = guard_bills(settings);
  const auto take_part = [&](TimePoint begin) {
    move_to(*table, begin);
    run("UPDATE user_bill SET err_status = NULL, err_start_time = NULL, err_next_retry_time = "
        "NULL, "
        "err_next_remind_staff_time = NULL, err_manual_notify_count = NULL");
    ASSERT_EQ(table->mark_abnormal(RowId(1), std::nullopt, 5s).value().rows, 1);
    std::optional<TimePoint> given;
    std::vector<TimePoint> told;
    for (int minute = 0; minute < 400; minute += 5) {
      const TimePoint now = table->now(5s).value();
      if (!table->promote(10, 5s).value().empty()) given = now;
      const auto taken = table->take_reminders(10, 1min, 5s).value();
      for (const auto& claim : taken) {
        told.push_back(now);
        ASSERT_TRUE(table->reminded(claim, true, 5s).value());
      }
      move(5min);
    }
    // The hour that comes twice is told from no other: what falls into it may be late by an hour.
    ASSERT_TRUE(given);
    EXPECT_GE(*given - begin, 80min);
    EXPECT_LE(*given - begin, 80min + 1h + 6min);
    ASSERT_GE(told.size(), 3U);
    for (std::size_t i = 1; i < told.size(); ++i) {
      EXPECT_GE(told[i] - told[i - 1], 20min * i) << i;
      EXPECT_LE(told[i] - told[i - 1], 20min * i + 1h + 6min) << i;
    }
  };
  for (const TimePoint change : {at(2027, 3, 28, 1h), at(2027, 10, 31, 1h)}) {
    for (const Duration before : {Duration(110min), Duration(50min)}) take_part(change - before);
  }
}

// GUARD-2: where a database has comments, the guard's columns have them.
TEST_P(GuardTypes, ColumnsSayWhatTheyAreFor) {
  make_bills();
  if (is_postgres()) run("COMMENT ON COLUMN user_bill.user_id IS '用户ID'");
  if (is_mariadb()) run("ALTER TABLE user_bill MODIFY user_id VARCHAR(40) COMMENT '用户ID'");
  const auto table = guard_bills();
  const auto comments = table->comments(5s).value();
  EXPECT_EQ(comments.size(), 13U);
  if (is_sqlite()) return;
  EXPECT_EQ(comments.at("user_id"), "用户ID");
  EXPECT_THAT(comments.at("err_status"), HasSubstr("异常主状态"));
  EXPECT_THAT(comments.at("err_manual_notify_count"), HasSubstr("通知人工次数"));
}

// A role that may read and write rows, and no more.
TEST_P(GuardTypes, ARoleWithoutDdlWorksWhereTheColumnsAreAndElseIsToldWhatToRun) {
  if (is_sqlite()) GTEST_SKIP() << "SQLite has no roles";
  make_bills();
  add_bill(1);
  const std::string role = "limited_" + std::to_string(getpid());
  std::string url = place_.url();
  url.replace(url.find("recourse@"), 9, role + "@");
  if (is_postgres()) {
    run("CREATE ROLE " + role + " LOGIN");
    run("GRANT SELECT, UPDATE ON user_bill TO " + role);
  } else {
    run("CREATE USER " + role + "@localhost");
    run("GRANT SELECT, UPDATE ON user_bill TO " + role + "@localhost");
  }
  {
    const auto table = guard::open_table(url, bill_settings(), 10s).value();
    const auto plan = table->plan(5s).value().statements;
    const Result<> ensured = add_all(*table, 10s);
    ASSERT_FALSE(ensured);
    EXPECT_EQ(ensured.error().code, ErrorCode::kInvalid);
    for (const std::string& statement : plan)
      EXPECT_THAT(ensured.error().message, HasSubstr(statement));

    run(plan.at(0));  // by somebody who may; of the indexes nobody has heard
    const Result<> again = add_all(*table, 10s);
    ASSERT_TRUE(again) << again.error().message;
    EXPECT_THAT(table->plan(5s).value().statements, Not(IsEmpty()));
    EXPECT_EQ(table->mark_abnormal(RowId(1), std::nullopt, 5s).value().rows, 1);
    EXPECT_EQ(table->processing_successful(RowId(1), 5s).value(), 1);
  }
  if (is_postgres()) run("DROP OWNED BY " + role);
  run(is_postgres() ? "DROP ROLE " + role : "DROP USER " + role + "@localhost");
}

// What plan() prints is what a person can run.
TEST_P(GuardTypes, ThePlanIsAllThatIsMissing) {
  make_bills();
  const auto table = open();
  const auto plan = table->plan(5s).value();
  for (const std::string& statement : plan.statements) {
    const Result<> done = application_->run(statement);
    ASSERT_TRUE(done) << done.error().message << " in " << statement;
  }
  EXPECT_THAT(table->plan(5s).value().statements, IsEmpty());
  EXPECT_TRUE(add_all(*table, 5s));
}

TEST_P(GuardTypes, NodesThatStartTogetherAddEverythingOnce) {
  if (is_sqlite()) GTEST_SKIP() << "a file has one process";
  make_bills();
  {
    std::vector<std::jthread> nodes;
    for (int i = 0; i < 3; ++i) {
      nodes.emplace_back([&] {
        const auto table = guard::open_table(place_.url(), bill_settings(), 30s).value();
        ASSERT_TRUE(table->add_columns(60s));
        // Indexes are one node's at a time; the others come again.
        EXPECT_TRUE(eventually([&] { return table->add_indexes(60s, {}).has_value(); }));
      });
    }
  }
  EXPECT_THAT(open()->plan(5s).value().statements, IsEmpty());
}

}  // namespace
}  // namespace recourse::tests

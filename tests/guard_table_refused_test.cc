// What a table, or the application, does not let a guard write; and what was written although
// nobody heard of it.
#include "tests/guard_table_fixture.h"

namespace recourse::tests {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::SizeIs;

class GuardRefused : public GuardOnDatabase {
 protected:
  // Rows 1 to 3, of which the first may not be changed any more.
  void put(const std::string& columns, const std::string& status = "FAIL") {
    for (std::int64_t id = 1; id <= 3; ++id) add_bill(id, status);
    run("UPDATE user_bill SET " + columns);
    if (is_postgres()) {
      run_plainly(
          "CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN "
          "IF OLD.id = 1 THEN RAISE EXCEPTION 'the month is closed'; END IF; RETURN NEW; END $$");
      run_plainly(
          "CREATE TRIGGER closed BEFORE UPDATE ON user_bill FOR EACH ROW EXECUTE FUNCTION "
          "refuse()");
    } else if (is_mariadb()) {
      run_plainly(
          "CREATE TRIGGER closed BEFORE UPDATE ON user_bill FOR EACH ROW BEGIN IF OLD.id = 1 THEN "
          "SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = 'the month is closed'; END IF; END");
    } else {
      run_plainly(
          "CREATE TRIGGER closed BEFORE UPDATE ON user_bill WHEN OLD.id = 1 BEGIN "
          "SELECT RAISE(ABORT, 'the month is closed'); END");
    }
  }
  void expect_told(GuardedTable& table) {
    const auto refusal = table.take_refusal();
    ASSERT_TRUE(refusal);
    EXPECT_EQ(refusal->row, RowId(std::int64_t{1}));
    EXPECT_THAT(refusal->error.message, HasSubstr("the month is closed"));
    EXPECT_FALSE(table.take_refusal()) << "once";
  }
  std::string at(Duration ahead) {
    return "'" + guard::WallClock(TimeZone()).written(now_ + ahead) + "'";
  }

  const TimePoint now_ = std::chrono::time_point_cast<Duration>(std::chrono::system_clock::now());

 private:
  void run_plainly(const std::string& statement) {
    const Result<> done = application_->run(statement);
    ASSERT_TRUE(done) << done.error().message;
  }
};
INSTANTIATE_TEST_SUITE_P(, GuardRefused, kGuardDatabases, guard_database_name);

// GUARD-7
TEST_P(GuardRefused, TheOthersAreHealed) {
  make_bills();
  const auto table = guard_bills();
  put("err_status = 4000, err_start_time = " + at(-1min), "SUCCESS");

  EXPECT_EQ(table->heal(200, 10s).value().became_2001, 2);

  expect_told(*table);
  EXPECT_EQ(cell("err_status", 1), "4000");
  EXPECT_EQ(cell("err_status", 3), "2001");
}

// GUARD-11
TEST_P(GuardRefused, TheOthersArePromoted) {
  make_bills();
  const auto table = guard_bills();
  put("err_status = 4000, err_next_retry_time = NULL, err_start_time = " + at(-24h));

  EXPECT_THAT(table->promote(200, 10s).value(), SizeIs(2));

  expect_told(*table);
  EXPECT_EQ(cell("err_status", 2), "4001");
}

// GUARD-12
TEST_P(GuardRefused, OfTheOthersPeopleAreTold) {
  make_bills();
  const auto table = guard_bills();
  put("err_status = 4001, err_start_time = " + at(-1min));

  EXPECT_THAT(table->take_reminders(200, 60s, 10s).value(), SizeIs(2));

  expect_told(*table);
}

// GUARD-9, I13: as a user who cancels while the bank is asked.
TEST_P(GuardRefused, WhatTheApplicationWroteMeanwhileStays) {
  make_bills();
  const auto table = guard_bills();
  add_bill(1);
  mark_due(*table, std::int64_t{1});
  const auto claim = table->claim(std::int64_t{1}, 20s, 5s).value().claim.value();
  run("UPDATE user_bill SET status = 'CANCELLED' WHERE id = 1");

  EXPECT_FALSE(table->succeeded(claim, 5s).value());

  EXPECT_EQ(cell("status"), "CANCELLED");
  EXPECT_EQ(cell("err_status"), "4000");
}

// GUARD-2: a second error of the row could not be marked.
TEST_P(GuardRefused, AColumnThatMustTakeNullIsLookedAtFirst) {
  run("CREATE TABLE user_bill (id BIGINT PRIMARY KEY, user_id VARCHAR(40), status VARCHAR(20), "
      "err_submit_manual_status INT NOT NULL DEFAULT 0)");
  database_ = guard::open_database(place_.url()).value();

  const auto opened = guard::open_table(database_, bill_settings(), 10s);

  ASSERT_FALSE(opened);
  EXPECT_THAT(opened.error().message, HasSubstr("err_submit_manual_status must take NULL"));
}

// GUARD-2: one for other columns, as after another status_field.
TEST_P(GuardRefused, AnIndexForOtherColumnsIsReplaced) {
  run("CREATE TABLE user_bill (id BIGINT PRIMARY KEY, user_id VARCHAR(40), state VARCHAR(20), "
      "status VARCHAR(20))");
  GuardSettings settings = bill_settings();
  settings.status_field = "state";
  (void)guard_bills(settings);

  const auto table = guard_bills();

  EXPECT_THAT(table->plan(10s).value().statements, SizeIs(0));
}

// Does all that it is asked for, and says once that it does not know.
class LostReplies final : public guard::Database {
 public:
  explicit LostReplies(guard::Database& real) : real_(real) {}

  void lose_next() { is_armed_ = true; }

  [[nodiscard]] const guard::Dialect& dialect() const override { return real_.dialect(); }
  Result<> use(Duration within, Work work) override {
    Result<> done = real_.use(within, work);
    if (done && std::exchange(is_armed_, false)) return fail(ErrorCode::kInDoubt, "no reply");
    return done;
  }
  Result<> use_once(Duration within, Work work) override { return real_.use_once(within, work); }

 private:
  guard::Database& real_;
  bool is_armed_ = false;
};

// I17, GUARD-8 to GUARD-12: what was done is found out, and not done twice.
class GuardInDoubt : public GuardOnDatabase {
 protected:
  void SetUp() override {
    make_bills();
    (void)guard_bills();
    add_bill(1);
    lossy_ = std::make_shared<LostReplies>(*database_);
    table_ = guard::open_table(lossy_, bill_settings(), 10s, [this](TimePoint now) {
               return now + moved_.load();
             }).value();
  }
  Claim claim_due() {
    mark_due(*table_, std::int64_t{1});
    return table_->claim(std::int64_t{1}, 20s, 5s).value().claim.value();
  }
  guard::ReminderClaim take_reminder() {
    run("UPDATE user_bill SET err_status = 4001, err_manual_notify_count = 4, err_start_time = '" +
        guard::WallClock(TimeZone()).written(table_->now(5s).value()) + "'");
    return table_->take_reminders(10, 60s, 5s).value().at(0);
  }

  std::shared_ptr<LostReplies> lossy_;
  std::unique_ptr<GuardedTable> table_;
};
INSTANTIATE_TEST_SUITE_P(, GuardInDoubt, kGuardDatabases, guard_database_name);

TEST_P(GuardInDoubt, AMarkIsOneMark) {
  lossy_->lose_next();

  const auto marked = table_->mark_abnormal(std::int64_t{1}, std::nullopt, 5s).value();

  EXPECT_EQ(marked.rows, 1);
  EXPECT_EQ(marked.err_status, 4000);
}

TEST_P(GuardInDoubt, AClaimThatNobodyHeardOfComesBackByItself) {
  mark_due(*table_, std::int64_t{1});
  lossy_->lose_next();

  const auto answer = table_->claim(std::int64_t{1}, 20s, 5s).value();

  EXPECT_FALSE(answer.claim);
  EXPECT_EQ(answer.standing, Standing::kLater);
  move(21s);
  EXPECT_TRUE(table_->claim(std::int64_t{1}, 20s, 5s).value().claim);
}

TEST_P(GuardInDoubt, ASuccessIsOurs) {
  const Claim claim = claim_due();
  lossy_->lose_next();

  EXPECT_TRUE(table_->succeeded(claim, 5s).value());

  EXPECT_EQ(cell("err_status"), "2001");
}

TEST_P(GuardInDoubt, AFailureIsCountedOnce) {
  const Claim claim = claim_due();
  lossy_->lose_next();

  const auto after = table_->failed(claim, 5s).value();

  ASSERT_TRUE(after);
  EXPECT_EQ(after->retries, 1);
  EXPECT_EQ(cell("err_retry_count"), "1");
}

TEST_P(GuardInDoubt, TheLastFailureIsAnEscalation) {
  (void)claim_due();
  run("UPDATE user_bill SET err_retry_count = 2, err_next_retry_time = NULL");
  const Claim claim = table_->claim(std::int64_t{1}, 20s, 5s).value().claim.value();
  lossy_->lose_next();

  const auto after = table_->failed(claim, 5s).value();

  ASSERT_TRUE(after);
  EXPECT_FALSE(after->next_retry);
  EXPECT_EQ(cell("err_status"), "4001");
}

TEST_P(GuardInDoubt, APushIsHeld) {
  std::vector<Claim> claims{claim_due()};
  move(5s);
  lossy_->lose_next();

  EXPECT_THAT(table_->push(claims, 20s, 5s).value(), ElementsAre(Pushed::kHeld));

  EXPECT_TRUE(table_->succeeded(claims[0], 5s).value()) << "under the new token";
}

TEST_P(GuardInDoubt, AReminderIsCountedOnce) {
  const guard::ReminderClaim claim = take_reminder();
  lossy_->lose_next();

  EXPECT_TRUE(table_->reminded(claim, true, 5s).value());

  EXPECT_EQ(cell("err_manual_notify_count"), "5");
}

TEST_P(GuardInDoubt, AReminderThatIsPutOffStaysOurs) {
  guard::ReminderClaim claim = take_reminder();
  lossy_->lose_next();

  EXPECT_TRUE(table_->put_off(claim, 120s, 5s).value());

  EXPECT_TRUE(table_->reminded(claim, true, 5s).value());
}

TEST_P(GuardInDoubt, WhatAPersonHasRetriedBeginsOnce) {
  (void)take_reminder();
  lossy_->lose_next();

  EXPECT_EQ(table_->retry(std::int64_t{1}, 5s).value(), 1);

  EXPECT_EQ(cell("err_status"), "4000");
  EXPECT_EQ(table_->retry(std::int64_t{1}, 5s).value(), 0) << "it does not wait for a person";
}

TEST_P(GuardInDoubt, ARowThatKillsIsGivenToAPerson) {
  mark_due(*table_, std::int64_t{1});
  lossy_->lose_next();

  EXPECT_TRUE(table_->give_to_person(std::int64_t{1}, table_->now(5s).value(), 5s).value());

  EXPECT_EQ(cell("err_status"), "4001");
}

}  // namespace
}  // namespace recourse::tests

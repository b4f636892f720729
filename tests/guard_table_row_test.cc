// One row: marked, claimed, run and written back, by one or by several at once.
#include <thread>

#include "tests/guard_table_fixture.h"

namespace recourse::tests {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class GuardRow : public GuardOnDatabase {
 protected:
  void SetUp() override {
    make_bills();
    add_bill(1);
    table_ = guard_bills();
  }
  Claim claim_one(Duration hold = 20s) {
    const auto answer = table_->claim(RowId(1), hold, 5s).value();
    EXPECT_TRUE(answer.claim) << guard::explain(answer.standing);
    return answer.claim.value();
  }

  std::unique_ptr<GuardedTable> table_;
};
INSTANTIATE_TEST_SUITE_P(, GuardRow, kGuardDatabases, guard_database_name);

// GUARD-5
TEST_P(GuardRow, ARowThatWaitsAlreadyKeepsItsTimesAndOneForAPersonStays) {
  ASSERT_EQ(table_->mark_abnormal(RowId(1), std::nullopt, 5s).value().rows, 1);
  const Row first = table_->find(RowId(1), 5s).value().value();
  move(100s);

  const auto again = table_->mark_abnormal(RowId(1), "u-2", 5s).value();

  EXPECT_EQ(again.rows, 1);
  EXPECT_EQ(again.err_status, 4000);
  EXPECT_EQ(table_->find(RowId(1), 5s).value(), first);
  EXPECT_EQ(cell("user_id"), "u-2");
  run("UPDATE user_bill SET err_status = 4001, err_next_retry_time = NULL");
  const auto at_person = table_->mark_abnormal(RowId(1), std::nullopt, 5s).value();
  EXPECT_EQ(at_person.rows, 1);
  EXPECT_EQ(at_person.err_status, 4001);
  EXPECT_EQ(cell("err_status"), "4001");
  EXPECT_EQ(cell("err_next_retry_time"), "NULL");
}

// GUARD-5
TEST_P(GuardRow, MarkingNothingIsToldNotHidden) {
  const auto marked = table_->mark_abnormal(RowId(99), std::nullopt, 5s).value();
  EXPECT_EQ(marked.rows, 0);
  EXPECT_EQ(marked.err_status, std::nullopt);
}

// GUARD-5: what the business rolls back does not take the mark with it.
TEST_P(GuardRow, AMarkStaysWhenTheBusinessRollsBack) {
  if (is_sqlite()) GTEST_SKIP() << "a file has one writer at a time";
  ASSERT_TRUE(application_->begin());
  ASSERT_TRUE(application_->execute("INSERT INTO user_bill (id, status) VALUES (50, 'FAIL')", {}));
  EXPECT_EQ(table_->mark_abnormal(RowId(50), std::nullopt, 5s).value().rows, 0);
  EXPECT_EQ(table_->mark_abnormal(RowId(1), std::nullopt, 5s).value().rows, 1);
  application_->rollback();
  EXPECT_EQ(cell("err_status"), "4000");
}

TEST_P(GuardRow, AMarkOnARowOfTheCallersOwnTransactionSaysWhatIsWrong) {
  if (is_sqlite()) GTEST_SKIP() << "SQLite locks no rows";
  ASSERT_TRUE(application_->begin());
  ASSERT_TRUE(application_->execute("UPDATE user_bill SET amount = 1 WHERE id = 1", {}));
  const auto marked = table_->mark_abnormal(RowId(1), std::nullopt, 1500ms);
  application_->rollback();
  ASSERT_FALSE(marked);
  EXPECT_THAT(marked.error().message, HasSubstr("locked"));
}

TEST_P(GuardRow, ANewErrorOfAHealedRowHasAWindowOfItsOwn) {
  run("UPDATE user_bill SET err_status = 2001, err_retry_count = 2, err_manual_notify_count = 4, "
      "err_start_time = '2020-01-01 00:00:00'");
  ASSERT_EQ(table_->mark_abnormal(RowId(1), std::nullopt, 5s).value().err_status, 4000);
  const Row row = table_->find(RowId(1), 5s).value().value();
  EXPECT_GT(*row.start_time, table_->now(5s).value() - 1min);
  EXPECT_EQ(row.retries, 0);
  EXPECT_EQ(row.notify_count, 0);
  EXPECT_THAT(table_->promote(10, 5s).value(), IsEmpty());
}

// GUARD-5
TEST_P(GuardRow, UsersWithOpenRowsAreToldWhich) {
  for (const std::int64_t id : {11, 21, 31, 2}) add_bill(id);
  run("UPDATE user_bill SET err_status = 4000 WHERE id IN (11, 2)");
  run("UPDATE user_bill SET err_status = 4001 WHERE id = 21");
  run("UPDATE user_bill SET err_status = 2001 WHERE id = 31");
  EXPECT_THAT(table_->open_rows_of("u1", 10, 5s).value(),
              ::testing::UnorderedElementsAre(RowId(11), RowId(21)));
  EXPECT_THAT(table_->open_rows_of("u2", 10, 5s).value(), ElementsAre(RowId(2)));
  EXPECT_THAT(table_->open_rows_of("u3", 10, 5s).value(), IsEmpty());
  EXPECT_THAT(table_->open_rows_of("' OR 1=1 --", 10, 5s).value(), IsEmpty());
}

// GUARD-8
TEST_P(GuardRow, OnlyOneOfTwoHasARowAndTheOtherIsToldWhen) {
  mark_due(*table_, RowId(1));
  const Claim mine = claim_one();
  EXPECT_EQ(mine.token, std::chrono::floor<std::chrono::seconds>(mine.token));
  EXPECT_GE(mine.token, mine.now + 20s);

  const auto other = table_->claim(RowId(1), 20s, 5s).value();

  EXPECT_FALSE(other.claim);
  EXPECT_EQ(other.standing, Standing::kLater);
  EXPECT_GT(other.wait, 15s);
  EXPECT_THAT(table_->due(10, 5s).value(), IsEmpty());
}

// GUARD-8, GUARD-9: what is not retried, and why.
TEST_P(GuardRow, ARowThatIsNotDueIsNotClaimed) {
  const auto standing = [&] {
    const auto answer = table_->claim(RowId(1), 20s, 5s).value();
    EXPECT_FALSE(answer.claim);
    return answer.standing;
  };
  EXPECT_EQ(standing(), Standing::kNotWaiting);
  EXPECT_EQ(table_->claim(RowId(99), 20s, 5s).value().standing, Standing::kNotWaiting);
  run("UPDATE user_bill SET err_status = 4000, status = 'NEW'");
  EXPECT_EQ(standing(), Standing::kOtherStatus);
  run("UPDATE user_bill SET status = 'SUCCESS'");
  EXPECT_EQ(standing(), Standing::kAlreadySuccess);
}

// Settled: a row without a next time is due, and a missing start time is healed first.
TEST_P(GuardRow, ARowWithoutTimesIsClaimedWithAStartTime) {
  run("UPDATE user_bill SET err_status = 4000");
  const Claim claim = claim_one();
  EXPECT_TRUE(claim.row.start_time);
  EXPECT_NE(cell("err_start_time"), "NULL");
}

// GUARD-9
TEST_P(GuardRow, SuccessWritesBothValuesUnderTheClaimOnly) {
  mark_due(*table_, RowId(1));
  const Claim claim = claim_one();
  add_bill(2);
  const auto before = snapshot();

  EXPECT_TRUE(table_->succeeded(claim, 5s).value());

  EXPECT_EQ(cell("err_status"), "2001");
  EXPECT_EQ(cell("status"), "SUCCESS");
  EXPECT_EQ(snapshot()[1], before[1]);
  EXPECT_FALSE(table_->succeeded(claim, 5s).value());
  EXPECT_FALSE(table_->failed(claim, 5s).value());
  EXPECT_EQ(cell("err_status"), "2001");
}

// A claim that ran out belongs to whoever came next; the late one's word counts for nothing.
TEST_P(GuardRow, WhatComesLateIsRefused) {
  mark_due(*table_, RowId(1));
  Claim late = claim_one(5s);
  move(7s);
  const Claim next = claim_one(20s);

  EXPECT_THAT(table_->push(std::span(&late, 1), 20s, 5s).value(), ElementsAre(Pushed::kLost));
  EXPECT_FALSE(table_->succeeded(late, 5s).value());
  EXPECT_FALSE(table_->failed(late, 5s).value());
  EXPECT_EQ(cell("err_retry_count"), "0");

  EXPECT_TRUE(table_->succeeded(next, 5s).value());
}

TEST_P(GuardRow, APushedClaimIsHeldForLonger) {
  mark_due(*table_, RowId(1));
  Claim claim = claim_one(5s);
  const TimePoint first = claim.token;
  move(4s);
  ASSERT_THAT(table_->push(std::span(&claim, 1), 20s, 5s).value(), ElementsAre(Pushed::kHeld));
  EXPECT_GT(claim.token, first);
  move(4s);
  EXPECT_FALSE(table_->claim(RowId(1), 20s, 5s).value().claim);
  EXPECT_TRUE(table_->failed(claim, 5s).value());
  // Its own next time is not its token any more.
  EXPECT_FALSE(table_->failed(claim, 5s).value());
  EXPECT_EQ(cell("err_retry_count"), "1");
}

TEST_P(GuardRow, ManyClaimsArePushedAtOnceEachForItself) {
  for (std::int64_t id = 2; id <= 32; ++id) add_bill(id);
  run("UPDATE user_bill SET err_status = 4000");
  std::vector<Claim> claims;
  for (std::int64_t id = 1; id <= 32; ++id)
    claims.push_back(table_->claim(RowId(id), 20s, 5s).value().claim.value());
  run("UPDATE user_bill SET err_status = 2002 WHERE id = 7");
  run("UPDATE user_bill SET err_retry_count = 5 WHERE id = 9");
  move(10s);

  const auto pushed = table_->push(claims, 20s, 5s).value();

  for (std::size_t i = 0; i < claims.size(); ++i) {
    const bool lost = i == 6 || i == 8;
    EXPECT_EQ(pushed[i], lost ? Pushed::kLost : Pushed::kHeld) << i;
    EXPECT_EQ(table_->find(claims[i].row.id, 5s).value()->next_retry, claims[i].token) << i;
    EXPECT_EQ(table_->succeeded(claims[i], 5s).value(), i != 6) << i;
  }
  EXPECT_GE(claims[0].token, claims[6].token + 9s);
}

TEST_P(GuardRow, ARowGivenToAPersonMeanwhileIsNotTheRunnersAnyMore) {
  mark_due(*table_, RowId(1));
  const Claim claim = claim_one(600s);
  move(200s);
  ASSERT_THAT(table_->promote(10, 5s).value(), ElementsAre(RowId(1)));
  EXPECT_FALSE(table_->succeeded(claim, 5s).value());
  EXPECT_FALSE(table_->failed(claim, 5s).value());
  EXPECT_EQ(cell("err_status"), "4001");
  EXPECT_EQ(cell("status"), "FAIL");
}

// GUARD-13
TEST_P(GuardRow, APersonsSuccessIsWrittenInOneStep) {
  run("UPDATE user_bill SET err_status = 4001");
  add_bill(2);
  EXPECT_EQ(table_->processing_successful(RowId(1), 5s).value(), 1);
  EXPECT_EQ(cell("err_status"), "2002");
  EXPECT_EQ(cell("err_submit_manual_status"), "4002");
  EXPECT_EQ(cell("status"), "SUCCESS");
  EXPECT_EQ(cell("status", 2), "FAIL");
  EXPECT_EQ(table_->processing_successful(RowId(99), 5s).value(), 0);
}

TEST_P(GuardRow, OfManyThatClaimAtOnceOneHasIt) {
  for (std::int64_t id = 2; id <= 20; ++id) add_bill(id);
  run("UPDATE user_bill SET err_status = 4000");
  std::atomic<int> claims = 0;
  {
    std::vector<std::jthread> claimers;
    for (int i = 0; i < 4; ++i) {
      claimers.emplace_back([&] {
        for (std::int64_t id = 1; id <= 20; ++id) {
          const auto answer = table_->claim(RowId(id), 60s, 30s);
          ASSERT_TRUE(answer) << answer.error().message;
          if (answer->claim) ++claims;
        }
      });
    }
  }
  EXPECT_EQ(claims, 20);
}

// Every connection of ours dies between claim and write-back.
TEST_P(GuardRow, AWriteBackOutlivesItsConnection) {
  if (is_sqlite()) GTEST_SKIP() << "SQLite has no connections to lose";
  mark_due(*table_, RowId(1));
  const Claim claim = claim_one();
  if (is_postgres()) {
    (void)number(
        "SELECT COUNT(pg_terminate_backend(pid)) FROM pg_stat_activity WHERE "
        "datname = current_database() AND pid <> pg_backend_pid()");
  } else {
    std::vector<std::int64_t> sessions;
    ASSERT_TRUE(application_->query(
        "SELECT id FROM information_schema.processlist WHERE db = DATABASE() AND id <> "
        "CONNECTION_ID()",
        {}, [&](const sql::Row& row) { sessions.push_back(row.integer(0)); }));
    for (const std::int64_t session : sessions)
      ASSERT_TRUE(application_->run("KILL " + std::to_string(session)));
  }

  const auto written = table_->failed(claim, 10s);

  ASSERT_TRUE(written) << written.error().message;
  EXPECT_TRUE(*written);
  EXPECT_EQ(cell("err_retry_count"), "1");
}

// What the database holds for equal is equal: MariaDB's usual collations know no capitals.
TEST_P(GuardRow, TheDatabasesOwnEqualityDecides) {
  run("UPDATE user_bill SET status = 'fail', err_status = 4000");
  const auto answer = table_->claim(RowId(1), 20s, 5s).value();
  EXPECT_EQ(answer.claim.has_value(), is_mariadb());
  EXPECT_EQ(table_->due(10, 5s).value().size(), 0U);
  if (is_mariadb()) {
    EXPECT_EQ(answer.claim->row.business_status, "FAIL");
    EXPECT_TRUE(table_->succeeded(*answer.claim, 5s).value());
  }
}

}  // namespace
}  // namespace recourse::tests

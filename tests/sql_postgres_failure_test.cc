// What sql::postgres does when something fails, on a real server: errors, locks, deadlines, losses.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <future>

#include "tests/sql_postgres_fixture.h"

namespace recourse::tests {
namespace {

using namespace std::chrono_literals;
using sql::Row;
using sql::Text;
using sql::Value;
using testing::HasSubstr;
using testing::Not;

class PostgresFailure : public PostgresTest {
 protected:
  static std::int64_t backend_of(Connection& connection) {
    std::int64_t backend = 0;
    const Result<> done = connection.query("SELECT pg_backend_pid()", {},
                                           [&](const Row& row) { backend = row.integer(0); });
    EXPECT_TRUE(done) << done.error().message;
    return backend;
  }

  // Waits until it is gone.
  void terminate(std::int64_t backend) {
    EXPECT_EQ(number("SELECT pg_terminate_backend(?::int, 20000)", std::array<Value, 1>{backend}),
              1);
  }

  void wait_until_gone(std::int64_t backend) {
    wait_until_zero("SELECT count(*) FROM pg_stat_activity WHERE pid = ?", backend);
  }

  void wait_until_zero(std::string_view query, std::int64_t value) {
    const auto give_up = after(20s);
    while (number(query, std::array<Value, 1>{value}) != 0) {
      ASSERT_LT(std::chrono::steady_clock::now(), give_up);
    }
  }

  // From here on a commit that has inserted into item waits for the advisory lock 1.
  void make_commits_wait() {
    ASSERT_TRUE(connection_->run(
        "CREATE FUNCTION hold() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN "
        "PERFORM pg_advisory_xact_lock(1); RETURN NULL; END $$;"
        "CREATE CONSTRAINT TRIGGER held AFTER INSERT ON item DEFERRABLE INITIALLY DEFERRED "
        "FOR EACH ROW EXECUTE FUNCTION hold();"
        "SELECT pg_advisory_lock(1)"));
  }
};

TEST_F(PostgresFailure, ShowsTheErrorOfAQueuedStatementAtCommitAndKeepsNothing) {
  ASSERT_TRUE(connection_->begin());
  ASSERT_TRUE(insert(*connection_, 1));
  ASSERT_TRUE(insert_later(*connection_, 1));
  ASSERT_TRUE(insert_later(*connection_, 2));

  const Result<> committed = connection_->commit();

  ASSERT_FALSE(committed);
  EXPECT_EQ(committed.error().code, ErrorCode::kConflict);
  EXPECT_THAT(committed.error().message, HasSubstr("23505"));
  EXPECT_TRUE(connection_->usable());
  EXPECT_EQ(number("SELECT count(*) FROM item"), 0);
}

TEST_F(PostgresFailure, ShowsTheErrorOfAQueuedStatementWithTheNextOne) {
  ASSERT_TRUE(connection_->begin());
  ASSERT_TRUE(connection_->execute_later("SELECT 1 / 0", 0, {}));

  const auto next = insert(*connection_, 1);

  ASSERT_FALSE(next);
  EXPECT_THAT(next.error().message, HasSubstr("22012"));
  connection_->rollback();
  EXPECT_EQ(number("SELECT count(*) FROM item"), 0);
}

TEST_F(PostgresFailure, RollsBackAfterAnErrorAndGoesOn) {
  ASSERT_TRUE(connection_->begin());
  ASSERT_TRUE(insert(*connection_, 1));
  ASSERT_FALSE(connection_->execute("SELECT nonsense", {}));
  connection_->rollback();

  ASSERT_TRUE(connection_->begin());
  ASSERT_TRUE(insert(*connection_, 1));
  ASSERT_TRUE(connection_->commit());
  EXPECT_EQ(number("SELECT count(*) FROM item"), 1);
}

TEST_F(PostgresFailure, RollsBackWhatIsStillQueuedAndFailsThere) {
  ASSERT_TRUE(connection_->begin());
  ASSERT_TRUE(insert(*connection_, 1));
  ASSERT_TRUE(connection_->execute_later("SELECT 1 / 0", 0, {}));
  connection_->rollback();

  EXPECT_TRUE(connection_->usable());
  EXPECT_EQ(number("SELECT count(*) FROM item"), 0);
}

TEST_F(PostgresFailure, RefusesToCommitATransactionThatHadFailed) {
  ASSERT_TRUE(connection_->begin());
  ASSERT_TRUE(insert(*connection_, 1));
  ASSERT_FALSE(connection_->execute("SELECT nonsense", {}));

  const Result<> committed = connection_->commit();

  ASSERT_FALSE(committed);
  EXPECT_EQ(committed.error().code, ErrorCode::kInvalid);
  EXPECT_EQ(number("SELECT count(*) FROM item"), 0);
}

// A statement that was skipped together with its preparation must be prepared again.
TEST_F(PostgresFailure, PreparesAgainWhatAFailureBeforeItSkipped) {
  for (int i = 0; i < 2; ++i) {
    ASSERT_TRUE(connection_->begin());
    ASSERT_TRUE(connection_->execute_later("SELECT 1 / 0", 0, {}));
    ASSERT_FALSE(insert(*connection_, 1));
    connection_->rollback();
  }

  EXPECT_EQ(insert(*connection_, 1).value(), 1);
}

TEST_F(PostgresFailure, AnswersABadStatementTheSameWayEachTime) {
  for (int i = 0; i < 3; ++i) {
    const auto executed = connection_->execute("INSERT INTO missing VALUES (1)", {});
    ASSERT_FALSE(executed);
    EXPECT_THAT(executed.error().message, HasSubstr("42P01"));
  }
}

TEST_F(PostgresFailure, DoesNotShowTheRowThatBrokeARule) {
  ASSERT_TRUE(connection_->run("CREATE UNIQUE INDEX ON item (name)"));
  const std::array<Value, 2> row{std::int64_t{1}, Text{"secret-payload"}};
  ASSERT_TRUE(connection_->execute("INSERT INTO item VALUES (?, ?)", row));

  const auto again = connection_->execute("INSERT INTO item VALUES (? + 1, ?)", row);

  ASSERT_FALSE(again);
  EXPECT_THAT(again.error().message, Not(HasSubstr("secret-payload")));
}

TEST_F(PostgresFailure, LosesADeadlockAsAConflict) {
  ASSERT_TRUE(insert(*connection_, 1));
  ASSERT_TRUE(insert(*connection_, 2));
  const std::unique_ptr<Connection> other = open();
  const auto lock = [](Connection& connection, std::int64_t id) {
    return connection.execute("UPDATE item SET name = 'x' WHERE id = ?", std::array<Value, 1>{id});
  };
  ASSERT_TRUE(connection_->begin());
  ASSERT_TRUE(lock(*connection_, 1));
  ASSERT_TRUE(other->begin());
  ASSERT_TRUE(lock(*other, 2));

  const auto lock_and_finish = [&](Connection& connection, std::int64_t id) {
    auto locked = lock(connection, id);
    connection.rollback();
    return locked;
  };
  auto theirs = std::async(std::launch::async, [&] { return lock_and_finish(*other, 1); });
  const auto ours = lock_and_finish(*connection_, 2);
  const auto their_answer = theirs.get();

  ASSERT_NE(ours.has_value(), their_answer.has_value());
  EXPECT_EQ((ours ? their_answer : ours).error().code, ErrorCode::kConflict);
  EXPECT_TRUE(connection_->usable());
  EXPECT_TRUE(other->usable());
}

TEST_F(PostgresFailure, WaitsForALockNoLongerThanItsPatience) {
  ASSERT_TRUE(insert(*connection_, 1));
  const std::unique_ptr<Connection> holder = open();
  ASSERT_TRUE(holder->begin());
  ASSERT_TRUE(holder->execute("DELETE FROM item", {}));

  ASSERT_TRUE(connection_->begin());
  ASSERT_TRUE(connection_->set_lock_patience(20ms));
  const auto executed = connection_->execute("DELETE FROM item", {});
  connection_->rollback();

  ASSERT_FALSE(executed);
  EXPECT_EQ(executed.error().code, ErrorCode::kExhausted);
  EXPECT_EQ(number("SELECT setting::bigint FROM pg_settings WHERE name = 'lock_timeout'"), 60'000);
}

TEST_F(PostgresFailure, GivesUpAtTheDeadlineAndTheServerStopsWorking) {
  const std::unique_ptr<Connection> slow = open();
  const std::int64_t backend = backend_of(*slow);
  const auto start = std::chrono::steady_clock::now();
  slow->set_deadline(after(100ms));

  const auto executed = slow->execute("SELECT pg_sleep(600)", {});

  ASSERT_FALSE(executed);
  EXPECT_EQ(executed.error().code, ErrorCode::kUnavailable);
  EXPECT_FALSE(slow->usable());
  EXPECT_LT(std::chrono::steady_clock::now() - start, 10s);
  wait_until_gone(backend);
}

TEST_F(PostgresFailure, KeepsTheConnectionWhenTheDeadlinePassedBeforehand) {
  ASSERT_TRUE(connection_->begin());
  ASSERT_TRUE(insert(*connection_, 1));
  connection_->set_deadline(after(-1s));

  EXPECT_EQ(insert(*connection_, 2).error().code, ErrorCode::kUnavailable);
  EXPECT_EQ(connection_->commit().error().code, ErrorCode::kUnavailable);

  ASSERT_TRUE(connection_->usable());
  connection_->set_deadline(after(30s));
  EXPECT_EQ(number("SELECT count(*) FROM item"), 0);
}

TEST_F(PostgresFailure, IsLostWithItsBackend) {
  const std::unique_ptr<Connection> victim = open();
  ASSERT_TRUE(victim->begin());
  ASSERT_TRUE(insert(*victim, 1));
  terminate(backend_of(*victim));

  const auto executed = insert(*victim, 2);

  ASSERT_FALSE(executed);
  EXPECT_EQ(executed.error().code, ErrorCode::kUnavailable);
  EXPECT_FALSE(victim->usable());
  victim->rollback();
  EXPECT_EQ(victim->begin().error().code, ErrorCode::kUnavailable);
  EXPECT_EQ(insert(*victim, 3).error().code, ErrorCode::kUnavailable);
  EXPECT_EQ(victim->run("SELECT 1").error().code, ErrorCode::kUnavailable);
}

TEST_F(PostgresFailure, KnowsThatNothingWasCommittedWhenTheBackendWasEndedBefore) {
  const std::unique_ptr<Connection> victim = open();
  const std::int64_t backend = backend_of(*victim);
  ASSERT_TRUE(victim->begin());
  ASSERT_TRUE(insert(*victim, 1));
  terminate(backend);

  const Result<> committed = victim->commit();

  ASSERT_FALSE(committed);
  EXPECT_EQ(committed.error().code, ErrorCode::kUnavailable);
  EXPECT_EQ(number("SELECT count(*) FROM item"), 0);
}

TEST_F(PostgresFailure, IsInDoubtWhenACommitIsNotAnsweredInTime) {
  const std::unique_ptr<Connection> other = open();
  make_commits_wait();
  ASSERT_TRUE(other->begin());
  ASSERT_TRUE(insert(*other, 1));
  other->set_deadline(after(100ms));

  const Result<> committed = other->commit();

  ASSERT_FALSE(committed);
  EXPECT_EQ(committed.error().code, ErrorCode::kInDoubt);
  EXPECT_FALSE(other->usable());
}

TEST_F(PostgresFailure, KnowsThatNothingWasCommittedWhenTheBackendIsEndedWithinCommit) {
  const std::unique_ptr<Connection> other = open();
  const std::int64_t backend = backend_of(*other);
  make_commits_wait();
  ASSERT_TRUE(other->begin());
  ASSERT_TRUE(insert(*other, 1));

  auto committed = std::async(std::launch::async, [&] { return other->commit(); });
  wait_until_zero("SELECT 1 - count(*) FROM pg_locks WHERE pid = ? AND NOT granted", backend);
  terminate(backend);

  const Result<> answer = committed.get();
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().code, ErrorCode::kUnavailable);
  EXPECT_EQ(number("SELECT count(*) FROM item"), 0);
}

TEST_F(PostgresFailure, TellsACommitThatTheServerRefusedFromALostOne) {
  ASSERT_TRUE(connection_->run("CREATE TABLE later (id int UNIQUE DEFERRABLE INITIALLY DEFERRED)"));
  ASSERT_TRUE(connection_->begin());
  ASSERT_TRUE(connection_->execute("INSERT INTO later VALUES (1), (1)", {}));

  const Result<> committed = connection_->commit();

  ASSERT_FALSE(committed);
  EXPECT_EQ(committed.error().code, ErrorCode::kConflict);
  EXPECT_EQ(number("SELECT count(*) FROM later"), 0);
}

TEST_F(PostgresFailure, SaysWhatIsWrongWithTheUrl) {
  const auto error_of = [](const std::string& url) {
    auto opened = sql::postgres::connect(url, after(10s));
    return opened ? Error{ErrorCode::kInvalid, "it connects"} : opened.error();
  };
  ASSERT_TRUE(
      connection_->run("DO $$ BEGIN CREATE ROLE needs_password LOGIN PASSWORD 'right'; "
                       "EXCEPTION WHEN duplicate_object THEN NULL; END $$"));
  const std::string url = database_.url();
  const auto with_user = [&](const std::string& user) {
    return std::string("postgres://") + user + url.substr(url.find('@'));
  };

  const Error no_database = error_of(with_database(url, "missing"));
  EXPECT_EQ(no_database.code, ErrorCode::kInvalid);
  EXPECT_THAT(no_database.message, HasSubstr("create the database"));
  const Error wrong_password = error_of(with_user("needs_password:wrong-secret"));
  EXPECT_EQ(wrong_password.code, ErrorCode::kInvalid);
  EXPECT_THAT(wrong_password.message, HasSubstr("password in the URL"));
  EXPECT_THAT(wrong_password.message, Not(HasSubstr("wrong-secret")));
  EXPECT_THAT(error_of(with_user("needs_password")).message, HasSubstr("add one to the URL"));
  EXPECT_EQ(error_of(with_user("needs_password:right")).message, "it connects");
  const Error nobody = error_of("postgres://u:some-secret@127.0.0.1:1/db");
  EXPECT_EQ(nobody.code, ErrorCode::kUnavailable);
  EXPECT_THAT(nobody.message, HasSubstr("is it running"));
  EXPECT_THAT(nobody.message, Not(HasSubstr("some-secret")));
}

TEST_F(PostgresFailure, RefusesADatabaseThatCannotHoldEveryText) {
  const FreshPostgres ascii("ENCODING 'SQL_ASCII' LOCALE 'C'");

  const auto opened = sql::postgres::connect(ascii.url(), after(10s));

  ASSERT_FALSE(opened);
  EXPECT_EQ(opened.error().code, ErrorCode::kInvalid);
  EXPECT_THAT(opened.error().message, HasSubstr("ENCODING 'UTF8'"));
}

}  // namespace
}  // namespace recourse::tests

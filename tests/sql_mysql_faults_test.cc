#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/url.hpp>
#include <chrono>
#include <string>
#include <thread>
#include <vector>

#include "sql/mysql/address.h"
#include "tests/sql_mysql_proxy.h"
#include "tests/sql_mysql_support.h"

namespace recourse::sql::mysql {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;
using testing::Not;

constexpr std::string_view kSetN = "UPDATE item SET n = ? WHERE id = ?";

class MysqlFaults : public MysqlTest {
 protected:
  void SetUp() override {
    MysqlTest::SetUp();
    const std::vector<Value> rows{1, 0, 2, 0};
    ASSERT_TRUE(connection_->execute_many("INSERT INTO item (id, n) VALUES (?, ?)", 2, rows));
  }

  Result<std::int64_t> set_n(Connection& connection, std::int64_t id, std::int64_t n) {
    const std::vector<Value> values{n, id};
    return connection.execute(kSetN, values);
  }

  void kill(Connection& victim) {
    const std::int64_t id = number(victim, "SELECT CONNECTION_ID() FROM item LIMIT 1");
    run(fmt::format("KILL CONNECTION {}", id));
  }

  [[nodiscard]] Error connect_error(const std::string& url) const {
    const Result<std::unique_ptr<Session>> opened = connect(url, in(5s));
    EXPECT_FALSE(opened);
    return opened ? Error{} : opened.error();
  }
};

TEST_F(MysqlFaults, OneOfTwoThatWaitForEachOtherIsToldToRunAgain) {
  const std::unique_ptr<Session> other = open();
  ASSERT_TRUE(connection_->begin());
  ASSERT_TRUE(other->begin());
  ASSERT_TRUE(set_n(*connection_, 1, 1));
  ASSERT_TRUE(set_n(*other, 2, 2));

  Result<std::int64_t> theirs;
  std::jthread thread([&] {
    theirs = set_n(*other, 1, 2);
    if (!theirs) other->rollback();
  });
  const Result<std::int64_t> ours = set_n(*connection_, 2, 1);
  if (!ours) connection_->rollback();
  thread.join();

  ASSERT_NE(ours.has_value(), theirs.has_value());
  EXPECT_EQ((ours ? theirs : ours).error().code, ErrorCode::kConflict);
  EXPECT_TRUE((ours ? *connection_ : *other).commit());
  EXPECT_TRUE(connection_->usable() && other->usable());
}

TEST_F(MysqlFaults, LosesPatienceWithALockAndForgetsItsPatienceAfterwards) {
  const std::unique_ptr<Session> holder = open();
  ASSERT_TRUE(holder->begin());
  ASSERT_TRUE(set_n(*holder, 1, 1));

  ASSERT_TRUE(connection_->begin());
  ASSERT_TRUE(connection_->set_lock_patience(100ms));
  ASSERT_TRUE(set_n(*connection_, 2, 9));
  const auto start = std::chrono::steady_clock::now();
  EXPECT_EQ(set_n(*connection_, 1, 9).error().code, ErrorCode::kExhausted);
  EXPECT_LT(std::chrono::steady_clock::now() - start, 2s);
  EXPECT_EQ(connection_->commit().error().code, ErrorCode::kExhausted);
  connection_->rollback();

  EXPECT_TRUE(connection_->usable());
  EXPECT_EQ(number(*connection_, "SELECT SUM(n) FROM item"), 0);
  EXPECT_GT(number(*connection_, "SELECT @@innodb_lock_wait_timeout FROM item LIMIT 1"), 1);
}

// The library takes such a statement for one with rows still to come, and would wait for them.
TEST_F(MysqlFaults, SendsAStatementAgainWhoseRowsEndedInAnError) {
  const std::unique_ptr<Session> holder = open();
  ASSERT_TRUE(holder->begin());
  ASSERT_TRUE(set_n(*holder, 2, 1));
  const auto ids_locked = [&]() -> Result<std::vector<std::int64_t>> {
    std::vector<std::int64_t> ids;
    const Result<> asked =
        connection_->query("SELECT id FROM item WHERE id IN (1, 2) ORDER BY id FOR UPDATE", {},
                           [&](const Row& row) { ids.push_back(row.integer(0)); });
    if (!asked) return fail(asked.error());
    return ids;
  };

  ASSERT_TRUE(connection_->begin());
  ASSERT_TRUE(connection_->set_lock_patience(0ms));
  EXPECT_EQ(ids_locked().error().code, ErrorCode::kExhausted);
  connection_->rollback();
  ASSERT_TRUE(holder->commit());

  connection_->set_deadline(in(5s));
  ASSERT_TRUE(connection_->begin());
  EXPECT_EQ(ids_locked().value(), (std::vector<std::int64_t>{1, 2}));
  connection_->rollback();
  EXPECT_TRUE(connection_->usable());
}

TEST_F(MysqlFaults, SkipsWhatIsLockedAlsoWithoutPatience) {
  const std::unique_ptr<Session> holder = open();
  ASSERT_TRUE(holder->begin());
  ASSERT_TRUE(set_n(*holder, 1, 1));

  ASSERT_TRUE(connection_->begin());
  ASSERT_TRUE(connection_->set_lock_patience(0ms));
  const std::int64_t found =
      number(*connection_, "SELECT id FROM item ORDER BY id LIMIT 1 FOR UPDATE SKIP LOCKED");

  EXPECT_EQ(found, 2);
  EXPECT_EQ(set_n(*connection_, 1, 9).error().code, ErrorCode::kExhausted);
  connection_->rollback();
}

TEST_F(MysqlFaults, AServerThatDoesNotAnswerCostsTheConnectionAndNotTheCaller) {
  connection_->set_deadline(in(200ms));
  const auto start = std::chrono::steady_clock::now();

  const Result<> slept = connection_->query("SELECT SLEEP(5)", {}, [](const Row&) {});

  const auto took = std::chrono::steady_clock::now() - start;
  EXPECT_EQ(slept.error().code, ErrorCode::kUnavailable);
  EXPECT_GE(took, 200ms);
  EXPECT_LT(took, 2s);
  EXPECT_FALSE(connection_->usable());
  EXPECT_EQ(connection_->execute("DO 1", {}).error().code, ErrorCode::kUnavailable);
  EXPECT_EQ(connection_->begin().error().code, ErrorCode::kUnavailable);
}

TEST_F(MysqlFaults, WhatIsLateBeforeItIsSentCostsNothing) {
  connection_->set_deadline(in(-1ms));
  EXPECT_EQ(set_n(*connection_, 1, 1).error().code, ErrorCode::kUnavailable);

  connection_->set_deadline(in(30s));
  EXPECT_TRUE(connection_->usable());
  EXPECT_TRUE(set_n(*connection_, 1, 1));
}

TEST_F(MysqlFaults, AKilledConnectionIsNotUsable) {
  const std::unique_ptr<Session> victim = open();
  ASSERT_TRUE(victim->begin());
  ASSERT_TRUE(set_n(*victim, 1, 1));
  kill(*victim);

  EXPECT_EQ(set_n(*victim, 2, 1).error().code, ErrorCode::kUnavailable);
  EXPECT_FALSE(victim->usable());
  victim->rollback();
  EXPECT_EQ(number(*connection_, "SELECT SUM(n) FROM item"), 0);
}

TEST_F(MysqlFaults, ACommitOnAConnectionThatDiedIsInDoubt) {
  const std::unique_ptr<Session> victim = open();
  ASSERT_TRUE(victim->begin());
  ASSERT_TRUE(set_n(*victim, 1, 1));
  kill(*victim);

  EXPECT_EQ(victim->commit().error().code, ErrorCode::kInDoubt);
  EXPECT_FALSE(victim->usable());
}

TEST_F(MysqlFaults, ACommitWhoseAnswerIsLostIsInDoubtAndMayStand) {
  AnswerLosingProxy proxy(url_);
  const std::unique_ptr<Session> session = connect(proxy.url(), in(10s)).value();
  ASSERT_TRUE(session->begin());
  ASSERT_TRUE(set_n(*session, 1, 7));

  proxy.lose_answers();
  session->set_deadline(in(300ms));
  EXPECT_EQ(session->commit().error().code, ErrorCode::kInDoubt);

  EXPECT_FALSE(session->usable());
  EXPECT_EQ(number(*connection_, "SELECT n FROM item WHERE id = 1 FOR UPDATE"), 7);
}

TEST_F(MysqlFaults, AnInsertWhoseAnswerIsLostLeavesTheCallerByTheDeadline) {
  AnswerLosingProxy proxy(url_);
  const std::unique_ptr<Session> session = connect(proxy.url(), in(10s)).value();
  ASSERT_TRUE(session->begin());
  proxy.lose_answers();
  session->set_deadline(in(200ms));

  EXPECT_EQ(set_n(*session, 1, 7).error().code, ErrorCode::kUnavailable);

  EXPECT_EQ(session->commit().error().code, ErrorCode::kUnavailable);
  session->rollback();
  EXPECT_FALSE(session->usable());
}

TEST_F(MysqlFaults, AGreetingThatDoesNotComeIsNotWaitedForBeyondTheDeadline) {
  AnswerLosingProxy proxy(url_);
  proxy.lose_answers();

  const Result<std::unique_ptr<Session>> opened = connect(proxy.url(), in(200ms));

  ASSERT_FALSE(opened);
  EXPECT_EQ(opened.error().code, ErrorCode::kUnavailable);
}

TEST_F(MysqlFaults, ConnectingWronglyIsExplainedWithoutThePassword) {
  boost::urls::url url(url_);
  url.set_password("open sesame");
  const Error password = connect_error(std::string(url.buffer()));
  url = boost::urls::url(url_);
  url.set_path("/no_such_database");
  const Error database = connect_error(std::string(url.buffer()));
  url = boost::urls::url(url_);
  url.params().set("socket", "/nowhere/mysqld.sock");
  const Error socket = connect_error(std::string(url.buffer()));
  const Error port = connect_error("mysql://u:open%20sesame@127.0.0.1:1/d");
  const Error host = connect_error("mysql://u:open%20sesame@no-such-host.invalid/d");

  EXPECT_EQ(password.code, ErrorCode::kInvalid);
  EXPECT_THAT(password.message, HasSubstr("check user and password"));
  EXPECT_EQ(database.code, ErrorCode::kInvalid);
  EXPECT_THAT(database.message, HasSubstr("CREATE DATABASE"));
  EXPECT_EQ(socket.code, ErrorCode::kUnavailable);
  EXPECT_THAT(socket.message, HasSubstr("/nowhere/mysqld.sock"));
  EXPECT_EQ(port.code, ErrorCode::kUnavailable);
  EXPECT_THAT(port.message, HasSubstr("127.0.0.1:1"));
  EXPECT_EQ(host.code, ErrorCode::kUnavailable);
  EXPECT_THAT(host.message, HasSubstr("no-such-host.invalid"));
  const std::string real = parse_address(url_).value().password;
  for (const Error& error : {password, database, socket, port, host}) {
    EXPECT_THAT(error.message, Not(HasSubstr("sesame")));
    if (!real.empty()) {
      EXPECT_THAT(error.message, Not(HasSubstr(real)));
    }
  }
}

TEST_F(MysqlFaults, TellsTlsThatIsNotTrusted) {
  boost::urls::url url(url_);
  url.params().set("tls", "on");
  url.params().set("tls_ca", "/dev/null");

  const Error error = connect_error(std::string(url.buffer()));

  EXPECT_EQ(error.code, ErrorCode::kUnavailable);
  EXPECT_THAT(error.message, HasSubstr("certificate"));
}

}  // namespace
}  // namespace recourse::sql::mysql

// A real server for tests of sql/mysql, and a database for each.
#pragma once

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <boost/url.hpp>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "sql/connection.h"
#include "sql/mysql/connect.h"
#include "tests/support/test_servers.h"

namespace recourse::sql::mysql {

inline Deadline in(std::chrono::milliseconds time) {
  return std::chrono::steady_clock::now() + time;
}

class MysqlTest : public testing::Test {
 protected:
  void SetUp() override {
    // Programs run side by side on one server.
    database_ = fmt::format("sql_mysql_{}", getpid());
    url_ = tests::mariadb_url();
    connection_ = open();
    run(fmt::format("DROP DATABASE IF EXISTS {0}; CREATE DATABASE {0}", database_));
    boost::urls::url url(url_);
    url.set_path("/" + database_);
    url_ = std::string(url.buffer());
    connection_ = open();
    run("CREATE TABLE item (id BIGINT NOT NULL PRIMARY KEY, n BIGINT, "
        "t LONGTEXT CHARACTER SET utf8mb4, b LONGBLOB)");
  }
  void TearDown() override {
    connection_ = open();
    run(fmt::format("DROP DATABASE {}", database_));
  }

  [[nodiscard]] std::unique_ptr<Session> open() const {
    Result<std::unique_ptr<Session>> opened = connect(url_, in(std::chrono::seconds(30)));
    if (!opened) {
      ADD_FAILURE() << opened.error().message;
      std::abort();
    }
    return std::move(*opened);
  }

  void run(std::string_view statement) {
    const Result<> ran = connection_->run(statement);
    ASSERT_TRUE(ran) << ran.error().message;
  }

  std::int64_t number(Connection& connection, std::string_view statement,
                      std::span<const Value> values = {}) {
    std::int64_t answer = -1;
    const Result<> asked =
        connection.query(statement, values, [&](const Row& row) { answer = row.integer(0); });
    EXPECT_TRUE(asked) << asked.error().message;
    return answer;
  }

  std::string url_;
  std::string database_;
  std::unique_ptr<Session> connection_;
};

}  // namespace recourse::sql::mysql

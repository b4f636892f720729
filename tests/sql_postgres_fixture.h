// A fresh database, and connections to it.
#pragma once

#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "sql/postgres/connect.h"
#include "tests/support/test_servers.h"

namespace recourse::tests {

inline sql::Deadline after(Duration duration) {
  return std::chrono::steady_clock::now() + duration;
}

class PostgresTest : public testing::Test {
 protected:
  using Connection = sql::postgres::PostgresConnection;

  void SetUp() override {
    connection_ = open();
    ASSERT_TRUE(connection_->run("CREATE TABLE item (id bigint PRIMARY KEY, name text)"));
  }

  std::unique_ptr<Connection> open() {
    auto opened = sql::postgres::connect(database_.url(), after(std::chrono::seconds(30)));
    if (!opened) throw std::runtime_error(opened.error().message);
    (*opened)->set_deadline(after(std::chrono::seconds(30)));
    return std::move(*opened);
  }

  std::int64_t number(std::string_view query) { return number(query, {}); }
  std::int64_t number(std::string_view query, std::span<const sql::Value> values) {
    std::int64_t answer = 0;
    const Result<> done =
        connection_->query(query, values, [&](const sql::Row& row) { answer = row.integer(0); });
    EXPECT_TRUE(done) << done.error().message;
    return answer;
  }

  Result<std::int64_t> insert(Connection& connection, std::int64_t id) {
    return connection.execute("INSERT INTO item VALUES (?, NULL)", std::array<sql::Value, 1>{id});
  }

  static Result<> insert_later(Connection& connection, std::int64_t id) {
    return connection.execute_later("INSERT INTO item VALUES (?, NULL)", 1,
                                    std::array<sql::Value, 1>{id});
  }

  FreshPostgres database_;
  std::unique_ptr<Connection> connection_;
};

}  // namespace recourse::tests

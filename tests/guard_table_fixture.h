// A business table of somebody's, on each of the three databases, and a guard over it whose clock
// the test moves.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "guard/database.h"
#include "guard/table.h"
#include "guard/wall_clock.h"
#include "sql/mysql/connect.h"
#include "sql/postgres/connect.h"
#include "sql/sqlite/connection.h"
#include "tests/support/place.h"

namespace recourse::tests {

using guard::Claim;
using guard::GuardedTable;
using guard::GuardSettings;
using guard::Pushed;
using guard::Row;
using guard::RowId;
using guard::Standing;

// The application's own connection.
inline std::unique_ptr<sql::Connection> connect_to(const std::string& url) {
  const auto until = std::chrono::steady_clock::now() + 60s;
  std::unique_ptr<sql::Connection> connection;
  if (url.starts_with("postgres")) {
    connection = std::move(sql::postgres::connect(url, until, {.plans_for_us = false}).value());
  } else if (url.starts_with("mysql")) {
    connection = std::move(sql::mysql::connect(url, until).value());
  } else {
    connection = sql::sqlite::open(url.substr(7), sql::sqlite::Access::kWrite).value();
  }
  connection->set_deadline(std::chrono::steady_clock::now() + 10min);
  return connection;
}

inline GuardSettings bill_settings() {
  return {.table = "user_bill",
          .user_field = "user_id",
          .status_field = "status",
          .success_value = "SUCCESS",
          .fail_value = "FAIL",
          .service_name = "异常处理示例",
          .min_interval = 5s,
          .timeout_window = 180s,
          .max_retries = 2,
          .remind_every = 10s};
}

// Columns and indexes.
inline Result<> add_all(GuardedTable& table, Duration within) {
  const Result<> added = table.add_columns(within);
  return added ? table.add_indexes(within, {}) : added;
}

class GuardOnDatabase : public ::testing::TestWithParam<const char*> {
 protected:
  GuardOnDatabase() : place_(GetParam()) {
    if (is_sqlite()) (void)connect_to(place_.url());  // a guard never makes a file
    application_ = connect_to(place_.url());
  }

  static bool is_sqlite() { return GetParam() == std::string("Sqlite"); }
  static bool is_postgres() { return GetParam() == std::string("Postgres"); }
  static bool is_mariadb() { return GetParam() == std::string("Mariadb"); }
  static std::string time_type() { return is_postgres() ? "timestamp" : "DATETIME"; }

  void make_bills(const std::string& id_type = "BIGINT",
                  const std::string& status = "VARCHAR(20)") {
    run("CREATE TABLE user_bill (id " + id_type + " PRIMARY KEY, user_id VARCHAR(40), status " +
        status + ", amount INT)");
  }
  std::unique_ptr<GuardedTable> open(const GuardSettings& settings = bill_settings()) {
    if (!database_) database_ = guard::open_database(place_.url()).value();
    auto opened = guard::open_table(database_, settings, 10s,
                                    [this](TimePoint now) { return now + moved_.load(); });
    EXPECT_TRUE(opened) << (opened ? "" : opened.error().message);
    return opened ? *std::move(opened) : nullptr;
  }
  // With its columns.
  std::unique_ptr<GuardedTable> guard_bills(const GuardSettings& settings = bill_settings()) {
    auto table = open(settings);
    const Result<> ensured = add_all(*table, 60s);
    EXPECT_TRUE(ensured) << (ensured ? "" : ensured.error().message);
    return table;
  }
  void add_bill(std::int64_t id, const std::string& status = "FAIL") {
    run("INSERT INTO user_bill (id, user_id, status, amount) VALUES (" + std::to_string(id) +
        ", 'u" + std::to_string(id % 10) + "', '" + status + "', 7)");
  }

  void run(const std::string& statement) {
    const auto done = application_->execute(statement, {});
    ASSERT_TRUE(done) << done.error().message << " in " << statement;
  }
  // One column of one row, as text.
  std::string cell(const std::string& column, std::int64_t id = 1) {
    const std::string as_text = is_mariadb() ? "CHAR" : is_sqlite() ? "TEXT" : "text";
    std::string text = "no row";
    const Result<> asked = application_->query(
        "SELECT CAST(" + column + " AS " + as_text +
            ") FROM user_bill WHERE id = " + std::to_string(id),
        {},
        [&](const sql::Row& row) { text = row.is_null(0) ? "NULL" : std::string(row.bytes(0)); });
    EXPECT_TRUE(asked) << (asked ? "" : asked.error().message);
    return text;
  }
  std::int64_t number(const std::string& query) {
    std::int64_t number = -1;
    const Result<> asked =
        application_->query(query, {}, [&](const sql::Row& row) { number = row.integer(0); });
    EXPECT_TRUE(asked) << (asked ? "" : asked.error().message);
    return number;
  }
  // All of the table, for tests that nothing else was touched.
  std::vector<std::string> snapshot(const std::string& table = "user_bill") {
    std::vector<std::string> rows;
    // A connection of its own: a server remembers how many columns `*` was.
    const Result<> asked =
        connect_to(place_.url())
            ->query("SELECT * FROM " + table + " ORDER BY 1", {}, [&](const sql::Row& row) {
              std::string line;
              for (std::size_t i = 0; i < row.columns(); ++i) {
                if (i > 0) line += '|';
                if (row.cell(i) == sql::Row::Cell::kInteger)
                  line += std::to_string(row.integer(i));
                else if (!row.is_null(i))
                  line += row.bytes(i);
              }
              rows.push_back(line);
            });
    EXPECT_TRUE(asked) << (asked ? "" : asked.error().message);
    return rows;
  }

  // Marked, and its first retry due.
  void mark_due(GuardedTable& table, const RowId& id) {
    EXPECT_EQ(table.mark_abnormal(id, std::nullopt, 5s).value().rows, 1);
    move(6s);
  }
  void move(Duration by) { moved_ = moved_.load() + by; }

  Place place_;
  std::atomic<Duration> moved_ = Duration::zero();
  std::unique_ptr<sql::Connection> application_;
  std::shared_ptr<guard::Database> database_;
};

inline const auto kGuardDatabases = ::testing::Values("Sqlite", "Postgres", "Mariadb");
inline std::string guard_database_name(const ::testing::TestParamInfo<const char*>& one) {
  return one.param;
}

}  // namespace recourse::tests

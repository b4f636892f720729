// For tests: a business' own database, as it is before anybody guards it.
#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>

#include "sql/connection.h"
#include "sql/mysql/connect.h"
#include "sql/postgres/connect.h"
#include "sql/sqlite/connection.h"
#include "tests/support/test_servers.h"

namespace recourse::tests {

class Shop {
 public:
  Shop(const std::string& database, const std::filesystem::path& folder) {
    if (database == "postgres") {
      postgres_ = std::make_unique<FreshPostgres>();
      url_ = postgres_->url();
      connection_ = *sql::postgres::connect(url_, soon());
    } else if (database == "mariadb") {
      mariadb_ = std::make_unique<FreshMariadb>();
      url_ = mariadb_->url();
      connection_ = *sql::mysql::connect(url_, soon());
    } else {
      const std::string file = (folder / "shop.db").string();
      url_ = "sqlite:" + file;
      connection_ = *sql::sqlite::open(file, sql::sqlite::Access::kWrite);
    }
    add_table("user_bill");
  }

  [[nodiscard]] const std::string& url() const { return url_; }
  // Where the server's socket is; empty where there is no server.
  [[nodiscard]] std::filesystem::path place() const {
    if (!postgres_ && !mariadb_) return {};
    std::string place = url_.substr(place_begins());
    for (std::size_t at = 0; (at = place.find("%2F", at)) != std::string::npos;)
      place.replace(at, 3, "/");
    return place;
  }
  // The same database by another way to the socket.
  [[nodiscard]] std::string url_by(const std::filesystem::path& place) const {
    return url_.substr(0, place_begins()) + place.string();
  }

  void add_table(const std::string& name) {
    run("CREATE TABLE " + name +
        " (id INTEGER PRIMARY KEY, user_id INTEGER, status VARCHAR(20), note VARCHAR(50))");
    if (postgres_) run("COMMENT ON COLUMN " + name + ".user_id IS '用户ID'");
    if (mariadb_) run("ALTER TABLE " + name + " MODIFY user_id INTEGER COMMENT '用户ID'");
  }
  // Of the first table, where no other is named.
  void add_row(int id, const std::string& status = "FAIL", const std::string& table = "user_bill") {
    run("INSERT INTO " + table + " (id, user_id, status, note) VALUES (" + std::to_string(id) +
        ", 1000, '" + status + "', 'n')");
  }
  void run(const std::string& statement) {
    const std::lock_guard lock(mutex_);
    connection_->set_deadline(soon());
    const Result<> done = connection_->run(statement);
    EXPECT_TRUE(done) << statement << ": " << (done ? "" : done.error().message);
  }
  // One cell of a row, as text; NULL is empty.
  std::string cell(const std::string& column, int id, const std::string& table = "user_bill") {
    std::string text;
    const std::lock_guard lock(mutex_);
    connection_->set_deadline(soon());
    const Result<> done = connection_->query(
        "SELECT " + column + " FROM " + table + " WHERE id = " + std::to_string(id), {},
        [&text](const sql::Row& row) { text = text_in(row); });
    EXPECT_TRUE(done) << (done ? "" : done.error().message);
    return text;
  }

 private:
  [[nodiscard]] std::size_t place_begins() const {
    const std::string_view word = postgres_ ? "host=" : "socket=";
    return url_.find(word) + word.size();
  }
  static sql::Deadline soon() { return std::chrono::steady_clock::now() + std::chrono::minutes(1); }
  static std::string text_in(const sql::Row& row) {
    switch (row.cell(0)) {
      case sql::Row::Cell::kNull: return "";
      case sql::Row::Cell::kInteger: return std::to_string(row.integer(0));
      case sql::Row::Cell::kText:
      case sql::Row::Cell::kBytes: return std::string(row.bytes(0));
    }
    return "";
  }

  // Services that mend rows do so from threads of their own.
  std::mutex mutex_;
  std::unique_ptr<FreshPostgres> postgres_;
  std::unique_ptr<FreshMariadb> mariadb_;
  std::string url_;
  // Gone before its database is.
  std::unique_ptr<sql::Connection> connection_;
};

}  // namespace recourse::tests

// Every statement that a store sends, with the values it sent it with, as the connection saw it.
//
// Thread safety: none; a recorded store is used by one thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "sql/connection.h"
#include "sql/postgres/connection.h"

namespace recourse::tests {

// A value that keeps its own text.
struct KeptValue {
  enum class Type : std::uint8_t { kNull, kInteger, kText, kBytes };
  Type type = Type::kNull;
  std::int64_t integer = 0;
  std::string text;

  [[nodiscard]] sql::Value view() const;
};

struct Statement {
  std::string text;
  // Of the first time, and of the first row.
  std::variant<std::vector<KeptValue>, std::vector<sql::postgres::Param>> values;
};

class Recorder {
 public:
  void note(std::string_view text, std::span<const sql::Value> values);
  void note(std::string_view text, std::span<const sql::postgres::Param> params);

  // Each text once, in the order in which they were first sent.
  [[nodiscard]] const std::vector<Statement>& statements() const { return statements_; }

 private:
  [[nodiscard]] bool knows(std::string_view text) const;

  std::vector<Statement> statements_;
};

// Passes everything on.
class RecordingConnection final : public sql::Connection {
 public:
  RecordingConnection(std::unique_ptr<sql::Connection> inner, Recorder& recorder)
      : inner_(std::move(inner)), recorder_(recorder) {}

  void set_deadline(sql::Deadline deadline) override { inner_->set_deadline(deadline); }
  Result<> set_lock_patience(Duration patience) override {
    return inner_->set_lock_patience(patience);
  }
  Result<> begin() override { return inner_->begin(); }
  Result<> commit() override { return inner_->commit(); }
  void rollback() override { inner_->rollback(); }
  Result<std::int64_t> execute(std::string_view statement,
                               std::span<const sql::Value> values) override {
    recorder_.note(statement, values);
    return inner_->execute(statement, values);
  }
  Result<std::int64_t> execute_many(std::string_view statement, std::size_t columns,
                                    std::span<const sql::Value> values) override {
    recorder_.note(statement, values.first(columns));
    return inner_->execute_many(statement, columns, values);
  }
  Result<> execute_later(std::string_view statement, std::size_t columns,
                         std::span<const sql::Value> values) override {
    recorder_.note(statement, values.first(columns));
    return inner_->execute_later(statement, columns, values);
  }
  Result<> query(std::string_view statement, std::span<const sql::Value> values,
                 sql::OnRow on_row) override {
    recorder_.note(statement, values);
    return inner_->query(statement, values, on_row);
  }
  Result<> run(std::string_view statement) override { return inner_->run(statement); }
  [[nodiscard]] bool usable() const override { return inner_->usable(); }

 private:
  std::unique_ptr<sql::Connection> inner_;
  Recorder& recorder_;
};

// PostgreSQL's own transaction hands over whole arrays, by a call that only its connection has.
class RecordingPostgres final : public sql::postgres::PostgresConnection {
 public:
  RecordingPostgres(PostgresConnection connection, Recorder& recorder)
      : PostgresConnection(std::move(connection)), recorder_(recorder) {}

  Result<std::int64_t> execute_many(std::string_view statement, std::size_t columns,
                                    std::span<const sql::Value> values) override {
    recorder_.note(statement, values.first(columns));
    return PostgresConnection::execute_many(statement, columns, values);
  }
  Result<> execute_later(std::string_view statement, std::size_t columns,
                         std::span<const sql::Value> values) override {
    recorder_.note(statement, values.first(columns));
    return PostgresConnection::execute_later(statement, columns, values);
  }
  Result<> query(std::string_view statement, std::span<const sql::Value> values,
                 sql::OnRow on_row) override {
    recorder_.note(statement, values);
    return PostgresConnection::query(statement, values, on_row);
  }
  Result<> query_with(std::string_view statement, std::span<const sql::postgres::Param> params,
                      sql::OnRow on_row) override {
    recorder_.note(statement, params);
    return PostgresConnection::query_with(statement, params, on_row);
  }

 private:
  Recorder& recorder_;
};

}  // namespace recourse::tests

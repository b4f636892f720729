#include "tests/support/application.h"

#include <fmt/format.h>

#include <cstdlib>
#include <fstream>
#include <utility>

#include "sql/mysql/connect.h"
#include "sql/postgres/connect.h"
#include "sql/sqlite/connection.h"

namespace recourse::tests {
namespace {

constexpr std::string_view kSqlite = "sqlite:";
constexpr auto kWithin = std::chrono::seconds(30);

sql::Deadline deadline() { return std::chrono::steady_clock::now() + kWithin; }

[[noreturn]] void stop(std::string_view doing, const Error& error) {
  fmt::print(stderr, "application: {}: {}\n", doing, error.message);
  std::abort();
}

template <class T>
T must(std::string_view doing, Result<T> result) {
  if (!result) stop(doing, result.error());
  return *std::move(result);
}
void must(std::string_view doing, const Result<>& result) {
  if (!result) stop(doing, result.error());
}

// A file of SQLite's may be locked for longer than its own patience on a busy machine.
template <class Ask>
auto patiently(const Ask& ask) {
  const auto until = deadline();
  while (true) {
    auto answer = ask();
    const bool is_busy = !answer && (answer.error().code == ErrorCode::kExhausted ||
                                     answer.error().code == ErrorCode::kUnavailable);
    if (!is_busy || std::chrono::steady_clock::now() > until) return answer;
  }
}

std::unique_ptr<sql::Connection> connect(const std::string& url) {
  if (url.starts_with(kSqlite)) {
    const std::string path = url.substr(kSqlite.size());
    std::ofstream(path, std::ios::app).flush();
    return must("open", sql::sqlite::open(path, sql::sqlite::Access::kForeign));
  }
  if (url.starts_with("postgres")) return must("connect", sql::postgres::connect(url, deadline()));
  return must("connect", sql::mysql::connect(url, deadline()));
}

std::vector<sql::Value> bound(const SqlValues& values) {
  std::vector<sql::Value> views;
  for (const SqlValue& value : values) {
    if (const auto* number = std::get_if<std::int64_t>(&value)) views.emplace_back(*number);
    if (const auto* text = std::get_if<std::string>(&value)) views.emplace_back(sql::Text{*text});
    if (const auto* bytes = std::get_if<SqlBytes>(&value)) {
      views.emplace_back(sql::Bytes{bytes->value});
    }
    if (std::holds_alternative<std::monostate>(value)) views.emplace_back(sql::Null{});
  }
  return views;
}

SqlValue value_of(const sql::Row& row, std::size_t column) {
  using Cell = sql::Row::Cell;
  switch (row.cell(column)) {
    case Cell::kNull: return std::monostate();
    case Cell::kInteger: return row.integer(column);
    case Cell::kText: return std::string(row.bytes(column));
    case Cell::kBytes: return SqlBytes{std::string(row.bytes(column))};
  }
  std::abort();
}

}  // namespace

Application::Application(std::string url) : url_(std::move(url)), connection_(connect(url_)) {}
Application::~Application() = default;

void Application::begin() {
  connection_->set_deadline(deadline());
  must("begin", patiently([&] { return connection_->begin(); }));
}
void Application::commit() {
  connection_->set_deadline(deadline());
  must("commit", connection_->commit());
}
void Application::rollback() { connection_->rollback(); }

std::int64_t Application::execute(std::string_view statement, const SqlValues& values) {
  connection_->set_deadline(deadline());
  return must(statement, patiently([&] { return connection_->execute(statement, bound(values)); }));
}

std::vector<SqlRow> Application::query(std::string_view statement, const SqlValues& values) {
  connection_->set_deadline(deadline());
  std::vector<SqlRow> rows;
  must(statement, patiently([&] {
         rows.clear();
         return connection_->query(statement, bound(values), [&](const sql::Row& row) {
           SqlRow& read = rows.emplace_back();
           for (std::size_t i = 0; i < row.columns(); ++i) read.push_back(value_of(row, i));
         });
       }));
  return rows;
}

std::int64_t Application::number(std::string_view statement, const SqlValues& values) {
  const SqlValue value = query(statement, values).at(0).at(0);
  const auto* number = std::get_if<std::int64_t>(&value);
  return number != nullptr ? *number : 0;
}

std::string Application::text(std::string_view statement, const SqlValues& values) {
  const SqlValue value = query(statement, values).at(0).at(0);
  const auto* text = std::get_if<std::string>(&value);
  return text != nullptr ? *text : "";
}

}  // namespace recourse::tests

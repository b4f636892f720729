#include "guard/postgres/dialect.h"

#include <fmt/format.h>

#include "guard/postgres/catalog.h"
#include "sql/identifier.h"
#include "sql/second_socket.h"

namespace recourse::guard::postgres {
namespace {

// Whoever waits for the whole table makes everybody behind it wait too.
constexpr std::string_view kShortWait = "SET lock_timeout = 10; SET statement_timeout = 0";
// Waits for older transactions, in nobody's way; the deadline of the call ends it.
constexpr std::string_view kLongWait = "SET lock_timeout = 0; SET statement_timeout = 0";

class PostgresDialect final : public Dialect {
 public:
  [[nodiscard]] std::string quoted(std::string_view name) const override {
    return sql::postgres::quoted(name);
  }
  [[nodiscard]] bool same_name(std::string_view one, std::string_view other) const override {
    return one == other;
  }
  [[nodiscard]] bool can_find_by(const Column& column) const override {
    return column.sort == ColumnSort::kNumber || column.sort == ColumnSort::kText ||
           column.sort == ColumnSort::kOther;
  }
  [[nodiscard]] Column added(const GuardColumn& column) const override {
    const bool is_time = column.sort == GuardColumnSort::kTime;
    return {.name = std::string(column.name),
            .type = is_time ? "timestamp without time zone" : "integer",
            .sort = is_time ? ColumnSort::kWallTime : ColumnSort::kNumber};
  }

  [[nodiscard]] std::string mark(const Column& column) const override {
    switch (column.sort) {
      case ColumnSort::kNumber: return "?";
      // Blanks at the end of a character(n) are no part of it, and its index is of that type.
      case ColumnSort::kText: return column.type == "character" ? "CAST(? AS bpchar)" : "?";
      case ColumnSort::kEither:
      case ColumnSort::kWallTime:
      case ColumnSort::kInstant:
      case ColumnSort::kBytes:
      case ColumnSort::kOther: break;
    }
    return fmt::format("CAST(? AS {})", column.type);
  }
  [[nodiscard]] std::string as_text(const Column& column) const override {
    return fmt::format("CAST({} AS text)", quoted(column.name));
  }
  [[nodiscard]] std::string as_time(const Column& column) const override {
    return fmt::format("to_char({}, 'YYYY-MM-DD HH24:MI:SS')", quoted(column.name));
  }

  Result<TimePoint> now(sql::Connection& connection) const override {
    TimePoint now;
    const Result<> asked = connection.query(
        "SELECT CAST(extract(epoch FROM clock_timestamp()) * 1000000 AS bigint)", {},
        [&](const sql::Row& row) { now = TimePoint(Duration(row.integer(0))); });
    if (!asked) return fail(asked.error());
    return now;
  }
  // Our own sessions live in UTC; reset_val is what others begin with.
  Result<std::string> zone(sql::Connection& connection) const override {
    std::string zone;
    const Result<> asked =
        connection.query("SELECT reset_val FROM pg_settings WHERE name = 'TimeZone'", {},
                         [&](const sql::Row& row) { zone = row.is_null(0) ? "" : row.bytes(0); });
    if (!asked) return fail(asked.error());
    return zone == "Etc/UTC" || zone == "GMT" ? "UTC" : zone;
  }
  // Not FOR UPDATE: a row that others only refer to, by a foreign key, can be written to.
  Result<std::string> skip_locked(sql::Connection&) const override {
    return " FOR NO KEY UPDATE SKIP LOCKED";
  }
  Result<std::optional<Layout>> layout(sql::Connection& connection,
                                       const std::string& table) const override {
    return read_layout(connection, table);
  }

  // No default: nothing is rewritten.
  [[nodiscard]] std::vector<Change> add_columns(
      const std::string& table, std::span<const GuardColumn* const> missing) const override {
    std::string columns;
    std::vector<Change> changes(1);
    for (const GuardColumn* column : missing) {
      columns += fmt::format("{}ADD COLUMN IF NOT EXISTS {} {}", columns.empty() ? "" : ", ",
                             quoted(column->name), added(*column).type);
      changes.push_back(
          {Change::Sort::kComment, fmt::format("COMMENT ON COLUMN {}.{} IS '{}'", quoted(table),
                                               quoted(column->name), column->comment)});
    }
    changes.front() = {Change::Sort::kColumns,
                       fmt::format("ALTER TABLE {} {}", quoted(table), columns)};
    return changes;
  }

  // Only rows that had an error are in it.
  [[nodiscard]] std::vector<Change> add_index(const std::string& table, const WantedIndex& index,
                                              bool leftover) const override {
    std::vector<Change> changes;
    if (leftover) {
      changes.push_back({Change::Sort::kIndex,
                         fmt::format("DROP INDEX CONCURRENTLY IF EXISTS {}", quoted(index.name))});
    }
    std::string columns;
    for (const WantedIndex::Part& part : index.parts)
      columns += (columns.empty() ? "" : ", ") + quoted(part.column);
    changes.push_back(
        {Change::Sort::kIndex,
         fmt::format("CREATE INDEX CONCURRENTLY IF NOT EXISTS {} ON {} ({}) WHERE {} <> 2000",
                     quoted(index.name), quoted(table), columns, quoted("err_status"))});
    return changes;
  }

  // Never waited for: a session that waits has a snapshot, and the builder of an index waits for
  // every snapshot.
  Result<bool> take_turn(sql::Connection& connection, const std::string& table) const override {
    return lock(connection, "SELECT pg_try_advisory_lock(hashtextextended(?, 0))", table);
  }
  void end_turn(sql::Connection& connection, const std::string& table) const override {
    (void)lock(connection, "SELECT pg_advisory_unlock(hashtextextended(?, 0))", table);
  }

  // The server looks now and then whether we are still there, and ends the statement where not.
  Result<> apply(sql::Connection& connection, const Change& change,
                 const Surroundings& around) const override {
    const bool in_nobodys_way = change.sort == Change::Sort::kIndex;
    if (Result<> set = connection.run(in_nobodys_way ? kLongWait : kShortWait); !set) return set;
    const sql::SecondSocket socket(connection.socket());
    const std::stop_callback leave(around.stop, [&socket] { socket.shut_down(); });
    return connection.run(change.statement);
  }

 private:
  static Result<bool> lock(sql::Connection& connection, std::string_view statement,
                           const std::string& table) {
    const std::string name = "recourse guard " + table;
    const sql::Value value = sql::Text{name};
    bool is_done = false;
    const Result<> asked =
        connection.query(statement, std::span(&value, 1),
                         [&](const sql::Row& row) { is_done = row.integer(0) != 0; });
    if (!asked) return fail(asked.error());
    return is_done;
  }
};

}  // namespace

const Dialect& dialect() {
  static const PostgresDialect dialect;
  return dialect;
}

}  // namespace recourse::guard::postgres

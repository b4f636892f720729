#include "guard/mysql/dialect.h"

#include <fmt/format.h>

#include <charconv>
#include <string>
#include <system_error>

#include "guard/mysql/catalog.h"
#include "guard/mysql/watched.h"
#include "sql/identifier.h"

namespace recourse::guard::mysql {
namespace {

// `10.11.6-MariaDB-0+deb12u1`, `8.0.36`
bool knows_skip_locked(const std::string& version) {
  int major = 0;
  int minor = 0;
  const char* const end = version.data() + version.size();
  const auto first = std::from_chars(version.data(), end, major);
  if (first.ec != std::errc() || first.ptr == end) return false;
  (void)std::from_chars(first.ptr + 1, end, minor);
  const bool is_mariadb = version.find("MariaDB") != std::string::npos;
  return is_mariadb ? major > 10 || (major == 10 && minor >= 6) : major >= 8;
}

class MysqlDialect final : public Dialect {
 public:
  [[nodiscard]] std::string quoted(std::string_view name) const override {
    return sql::mysql::quoted(name);
  }
  [[nodiscard]] bool same_name(std::string_view one, std::string_view other) const override {
    return same_name_in_any_case(one, other);
  }
  [[nodiscard]] bool can_find_by(const Column& column) const override {
    return column.sort == ColumnSort::kNumber || column.sort == ColumnSort::kText;
  }
  [[nodiscard]] Column added(const GuardColumn& column) const override {
    const bool is_time = column.sort == GuardColumnSort::kTime;
    return {.name = std::string(column.name),
            .type = is_time ? "DATETIME" : "INT",
            .sort = is_time ? ColumnSort::kWallTime : ColumnSort::kNumber};
  }
  [[nodiscard]] std::string mark(const Column&) const override { return "?"; }
  [[nodiscard]] std::string as_text(const Column& column) const override {
    if (column.sort == ColumnSort::kBytes) return fmt::format("HEX({})", quoted(column.name));
    return fmt::format("CAST({} AS CHAR)", quoted(column.name));
  }
  [[nodiscard]] std::string as_time(const Column& column) const override {
    return fmt::format("DATE_FORMAT({}, '%Y-%m-%d %H:%i:%s')", quoted(column.name));
  }

  Result<TimePoint> now(sql::Connection& connection) const override {
    TimePoint now;
    const Result<> asked =
        connection.query("SELECT CAST(UNIX_TIMESTAMP(SYSDATE(6)) * 1000000 AS SIGNED)", {},
                         [&](const sql::Row& row) { now = TimePoint(Duration(row.integer(0))); });
    if (!asked) return fail(asked.error());
    return now;
  }
  Result<std::string> zone(sql::Connection& connection) const override {
    std::string zone;
    const Result<> asked = connection.query(
        // What the system's zone was called when the server started is a name for half a year: GMT
        // and EST load as zones without a summer. Only UTC has none anywhere.
        "SELECT IF(@@global.time_zone <> 'SYSTEM', @@global.time_zone,"
        " IF(@@system_time_zone = 'UTC', 'UTC', CONCAT('SYSTEM ', @@system_time_zone)))",
        {}, [&](const sql::Row& row) { zone = row.is_null(0) ? "" : row.bytes(0); });
    if (!asked) return fail(asked.error());
    return zone == "+00:00" ? "UTC" : zone;
  }
  // From MariaDB 10.6 and MySQL 8.0 on.
  Result<std::string> skip_locked(sql::Connection& connection) const override {
    bool has_it = false;
    const Result<> asked = connection.query("SELECT VERSION()", {}, [&](const sql::Row& row) {
      has_it = knows_skip_locked(row.is_null(0) ? "" : std::string(row.bytes(0)));
    });
    if (!asked) return fail(asked.error());
    return has_it ? " FOR UPDATE SKIP LOCKED" : "";
  }
  Result<std::optional<Layout>> layout(sql::Connection& connection,
                                       const std::string& table) const override {
    return read_layout(connection, table);
  }

  [[nodiscard]] std::vector<Change> add_columns(
      const std::string& table, std::span<const GuardColumn* const> missing) const override {
    std::string columns;
    for (const GuardColumn* column : missing) {
      columns += fmt::format("ADD COLUMN {} {} NULL COMMENT '{}', ", quoted(column->name),
                             added(*column).type, column->comment);
    }
    return {{Change::Sort::kColumns,
             fmt::format("ALTER TABLE {} {}ALGORITHM=INSTANT", quoted(table), columns)}};
  }
  // Each row is looked up by its primary key: a scan with 5,000 rows stuck and none due took 38 ms,
  // and takes one with these indexes.
  [[nodiscard]] bool reads_rows_dearly() const override { return true; }
  [[nodiscard]] std::vector<Change> add_index(const std::string& table, const WantedIndex& index,
                                              bool leftover) const override {
    std::string columns;
    for (const WantedIndex::Part& part : index.parts)
      columns += (columns.empty() ? "" : ", ") + quoted(part.column) +
                 (part.prefix == 0 ? "" : fmt::format("({})", part.prefix));
    return {{Change::Sort::kIndex,
             fmt::format("ALTER TABLE {} {}ADD INDEX {} ({}), ALGORITHM=INPLACE, LOCK=NONE",
                         quoted(table),
                         leftover ? fmt::format("DROP INDEX {}, ", quoted(index.name)) : "",
                         quoted(index.name), columns)}};
  }

  // The table's own lock is enough: two sessions cannot change it at once.
  Result<bool> take_turn(sql::Connection&, const std::string&) const override { return true; }

  // Whoever waits for the whole table makes everybody behind it wait too: a change asks for it at
  // its beginning and at its end, and the server's own patience counts in seconds.
  Result<> apply(sql::Connection& connection, const Change& change,
                 const Surroundings& around) const override {
    if (Result<> set = connection.run("SET SESSION lock_wait_timeout = 1"); !set) return set;
    return run_watched(connection, change.statement, around);
  }
};

}  // namespace

const Dialect& dialect() {
  static const MysqlDialect dialect;
  return dialect;
}

}  // namespace recourse::guard::mysql

// What people see of a guarded table (GUARD-15, watch).
#include <fmt/format.h>

#include <utility>

#include "guard/sql_table.h"

namespace recourse::guard {
namespace {

bool is_time(const Column& column) {
  return column.sort == ColumnSort::kWallTime || column.sort == ColumnSort::kInstant;
}

// Cut where it is read: a page of them is held at once.
std::string listed(const Column& column, const Dialect& dialect) {
  if (is_time(column)) return dialect.as_time(column);
  if (column.sort == ColumnSort::kNumber) return dialect.quoted(column.name);
  return fmt::format(
      "SUBSTR({}, 1, {})",
      column.sort == ColumnSort::kText ? dialect.quoted(column.name) : dialect.as_text(column),
      kListedCharactersMax);
}

SqlValue cell_of(const sql::Row& row, std::size_t at, const Column& column,
                 const TableClocks& clocks) {
  switch (row.cell(at)) {
    case sql::Row::Cell::kNull: return {};
    case sql::Row::Cell::kInteger: return row.integer(at);
    case sql::Row::Cell::kText:
    case sql::Row::Cell::kBytes: break;
  }
  std::string text(row.bytes(at));
  if (column.sort != ColumnSort::kInstant) return text;
  const std::optional<TimePoint> moment = clocks.utc.read(text);
  return moment ? clocks.wall.written(*moment) : text;
}

// Numbers of ours, written out: of a value that is bound PostgreSQL cannot tell that it is in the
// partial index, and reads the whole table.
std::string filter_of(const std::string& err_status, const ListQuery& query) {
  if (query.err_statuses.empty()) return fmt::format("{0} IS NOT NULL AND {0} <> 2000", err_status);
  return fmt::format("{} IN ({})", err_status, fmt::join(query.err_statuses, ", "));
}

// limit
std::string select_newest(const std::string& columns, const Shape& shape, const Dialect& dialect,
                          const ListQuery& query) {
  return fmt::format(
      "SELECT {0} FROM {1} WHERE {2} ORDER BY CASE WHEN {3} IS NULL THEN 1 ELSE 0 END, {3} DESC, "
      "{4} DESC LIMIT ?",
      columns, dialect.quoted(shape.table), filter_of(dialect.quoted(shape.err_status.name), query),
      dialect.quoted(shape.start_time.name), dialect.quoted(shape.id.name));
}

// The questions of a report.
class Counter {
 public:
  Counter(sql::Connection& connection, const Shape& shape, const Dialect& dialect)
      : connection_(connection),
        shape_(shape),
        dialect_(dialect),
        table_(dialect.quoted(shape.table)),
        err_status_(dialect.quoted(shape.err_status.name)),
        status_(dialect.quoted(shape.status.name)),
        mark_(dialect.mark(shape.status)) {}

  Result<> by_err_status(TableReport& report) const {
    return connection_.query(
        fmt::format("SELECT {0}, COUNT(*) FROM {1} WHERE {0} IS NOT NULL GROUP BY {0}", err_status_,
                    table_),
        {}, [&](const sql::Row& row) {
          report.by_err_status[static_cast<std::int32_t>(row.integer(0))] = row.integer(1);
        });
  }
  Result<> oldest(const TableClocks& clocks, TableReport& report) const {
    const Column& start = shape_.start_time;
    return connection_.query(
        fmt::format(
            "SELECT {0} FROM {1} WHERE {2} IN (4000, 4001) AND {3} IS NOT NULL ORDER BY {3} "
            "LIMIT 1",
            dialect_.as_time(start), table_, err_status_, dialect_.quoted(start.name)),
        {},
        [&](const sql::Row& row) { report.oldest_start = read_time(row, 0, clocks.of(start)); });
  }
  Result<> unmarked(const RowId& fail_value, bool has_columns, TableReport& report) const {
    Values values;
    values.id(fail_value);
    const std::string unmarked =
        has_columns ? fmt::format(" AND ({0} IS NULL OR {0} NOT IN (4000, 4001))", err_status_)
                    : "";
    return count(fmt::format("{} = {}{}", status_, mark_, unmarked), values,
                 report.failed_unmarked);
  }
  Result<> drift(const RowId& success, const RowId& fail_value, TableReport& report) const {
    Values healed;
    healed.id(success);
    Result<> asked =
        count(fmt::format("{} IN (4000, 4001) AND {} = {}", err_status_, status_, mark_), healed,
              report.healed_unnoticed);
    if (!asked) return asked;
    Values both;
    both.id(success).id(fail_value);
    return count(fmt::format("{0} IN (4000, 4001) AND ({1} IS NULL OR {1} NOT IN ({2}, {2}))",
                             err_status_, status_, mark_),
                 both, report.other_status);
  }

 private:
  Result<> count(const std::string& where, const Values& values, std::int64_t& into) const {
    return connection_.query(fmt::format("SELECT COUNT(*) FROM {} WHERE {}", table_, where),
                             values.view(), [&](const sql::Row& row) { into = row.integer(0); });
  }

  sql::Connection& connection_;
  const Shape& shape_;
  const Dialect& dialect_;
  const std::string table_, err_status_, status_, mark_;
};

}  // namespace

Result<std::vector<ListedRow>> SqlTable::list(const ListQuery& query, Duration within) {
  const Result<Seen> view = ready();
  if (!view) return fail(view.error());
  const Shape& shape = (*view)->shape;
  std::string columns = dialect().as_time(shape.start_time);
  for (const Column& column : shape.all) columns += ", " + listed(column, dialect());
  const std::string statement = select_newest(columns, shape, dialect(), query);
  std::vector<ListedRow> rows;
  const Result<> done = attempt(within, [&](sql::Connection& connection, bool) {
    rows.clear();
    Values values;
    values.number(static_cast<std::int64_t>(query.limit));
    return connection.query(statement, values.view(), [&](const sql::Row& row) {
      ListedRow one{.columns = {}, .start_time = read_time(row, 0, clocks_.of(shape.start_time))};
      for (std::size_t i = 0; i < shape.all.size(); ++i)
        one.columns.emplace_back(shape.all[i].name, cell_of(row, i + 1, shape.all[i], clocks_));
      rows.push_back(std::move(one));
    });
  });
  if (!done) return fail(done.error());
  return rows;
}

Result<std::vector<Row>> SqlTable::rows(const ListQuery& query, Duration within) {
  const Result<Seen> view = ready();
  if (!view) return fail(view.error());
  const Shape& shape = (*view)->shape;
  const std::string statement =
      select_newest(row_columns(shape, dialect()), shape, dialect(), query);
  std::vector<Row> rows;
  const Result<> done = attempt(within, [&](sql::Connection& connection, bool) {
    rows.clear();
    Values values;
    values.id((*view)->fail).id((*view)->success).number(static_cast<std::int64_t>(query.limit));
    return connection.query(statement, values.view(), [&](const sql::Row& row) {
      rows.push_back(read_row(row, shape, settings_, clocks_));
    });
  });
  if (!done) return fail(done.error());
  return rows;
}

Result<std::int64_t> SqlTable::count(const ListQuery& query, Duration within) {
  const Result<Seen> view = ready();
  if (!view) return fail(view.error());
  const std::string statement =
      fmt::format("SELECT COUNT(*) FROM {} WHERE {}", dialect().quoted((*view)->shape.table),
                  filter_of(dialect().quoted((*view)->shape.err_status.name), query));
  std::int64_t count = 0;
  const Result<> done = attempt(within, [&](sql::Connection& connection, bool) {
    return connection.query(statement, {}, [&](const sql::Row& row) { count = row.integer(0); });
  });
  if (!done) return fail(done.error());
  return count;
}

Result<TableReport> SqlTable::report(Duration within) {
  const Seen view = seen();
  TableReport report;
  const auto work = [&](sql::Connection& connection, bool) -> Result<> {
    report = {};
    const Result<TimePoint> now = now_on(connection);
    if (!now) return fail(now.error());
    report.now = *now;
    const Counter counter(connection, view->shape, dialect());
    const bool has_columns = view->shape.missing.empty();
    if (Result<> drift = counter.unmarked(view->fail, has_columns, report); !drift) return drift;
    if (!has_columns) return {};
    if (Result<> counted = counter.by_err_status(report); !counted) return counted;
    if (Result<> found = counter.oldest(clocks_, report); !found) return found;
    return counter.drift(view->success, view->fail, report);
  };
  if (const Result<> done = attempt(within, work); !done) return fail(done.error());
  return report;
}

}  // namespace recourse::guard

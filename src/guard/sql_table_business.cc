// What business code and people ask of a guarded table (GUARD-5, GUARD-13).
#include <fmt/format.h>

#include <utility>

#include "guard/sql_table.h"
#include "guard/values_of.h"

namespace recourse::guard {
namespace {

Result<RowId> user_of(const Shape& shape, const std::string& user) {
  if (!shape.user) {
    return fail(ErrorCode::kInvalid,
                fmt::format("the guard of {} has no user_field: name the column of its users",
                            shape.table));
  }
  Result<RowId> value = value_of(*shape.user, user);
  if (value) return value;
  return fail(ErrorCode::kInvalid, "the user " + value.error().message);
}

std::int64_t seconds_of(Duration duration) {
  return std::chrono::ceil<std::chrono::seconds>(duration).count();
}

bool is_over(std::int32_t err_status) {
  return err_status == static_cast<std::int32_t>(ErrStatus::kHealedItself) ||
         err_status == static_cast<std::int32_t>(ErrStatus::kHealedByPerson);
}

bool is_stuck(std::int32_t err_status) {
  return err_status == static_cast<std::int32_t>(ErrStatus::kWaiting) ||
         err_status == static_cast<std::int32_t>(ErrStatus::kNeedsPerson);
}

}  // namespace

Result<std::vector<RowId>> SqlTable::open_rows_of(const std::string& user, std::size_t limit,
                                                  Duration within) {
  const Result<Seen> view = ready();
  if (!view) return fail(view.error());
  const Result<RowId> value = user_of((*view)->shape, user);
  if (!value) return fail(value.error());
  std::vector<RowId> ids;
  const Result<> done = attempt(within, [&](sql::Connection& connection, bool) {
    ids.clear();
    Values values;
    values.id(*value).number(static_cast<std::int64_t>(limit));
    return connection.query((*view)->statements.open_rows_of, values.view(),
                            [&](const sql::Row& row) { ids.push_back(read_id(row, 0)); });
  });
  if (!done) return fail(done.error());
  return ids;
}

// False: the row has changed since it was read.
Result<bool> SqlTable::mark_on(sql::Connection& connection, const View& view, const RowId& id,
                               const std::optional<RowId>& user, Marked& marked) const {
  const Result<TimePoint> now = now_on(connection);
  if (!now) return fail(now.error());
  const auto row = find_on(connection, view, id);
  if (!row) return fail(row.error());
  marked = {};
  if (!*row) return true;
  const Statements& statements = view.statements;
  const std::optional<std::int32_t> before = (**row).err_status;
  Values values;
  if (before && is_stuck(*before)) {
    marked = {.rows = 1, .err_status = before};
    if (!user) return true;
    values.id(*user).id(id);
    const auto set = connection.execute(statements.set_user, values.view());
    if (!set) return fail(set.error());
    marked.rows = *set;
    return true;
  }
  values.text(written(view.shape.start_time, *now));
  values.number(seconds_of(settings_.min_interval)).number(seconds_of(settings_.timeout_window));
  values.text(written(view.shape.next_retry, whole_seconds_up(*now + settings_.min_interval)));
  if (user) values.id(*user);
  values.id(id);
  if (before) values.number(*before);
  const std::string& statement =
      !before            ? (user ? statements.mark_from_null_with_user : statements.mark_from_null)
      : is_over(*before) ? (user ? statements.mark_anew_from_with_user : statements.mark_anew_from)
                         : (user ? statements.mark_from_with_user : statements.mark_from);
  const auto done = connection.execute(statement, values.view());
  if (!done) return fail(done.error());
  marked = {.rows = *done, .err_status = static_cast<std::int32_t>(ErrStatus::kWaiting)};
  return *done > 0;
}

Result<Marked> SqlTable::mark_abnormal(const RowId& given, const std::optional<std::string>& user,
                                       Duration within) {
  const Result<Seen> view = ready();
  if (!view) return fail(view.error());
  const Result<RowId> id = parse_id(to_string(given));
  if (!id) return fail(id.error());
  std::optional<RowId> whose;
  if (user) {
    Result<RowId> value = user_of((*view)->shape, *user);
    if (!value) return fail(value.error());
    whose = *std::move(value);
  }
  Marked marked;
  const Result<> done = attempt(within, [&](sql::Connection& connection, bool) -> Result<> {
    const Result<bool> decided = mark_on(connection, **view, *id, whose, marked);
    if (!decided) return fail(decided.error());
    if (*decided) return {};
    return fail(ErrorCode::kConflict, "the row was changed by others again and again");
  });
  if (done) return marked;
  if (done.error().code != ErrorCode::kExhausted) return fail(done.error());
  return fail(ErrorCode::kExhausted,
              "another transaction has this row locked, perhaps the caller's own: mark it after "
              "that one has ended");
}

Result<std::int64_t> SqlTable::retry(const RowId& given, Duration within) {
  const Result<Seen> view = ready();
  if (!view) return fail(view.error());
  const Result<RowId> id = parse_id(to_string(given));
  if (!id) return fail(id.error());
  std::int64_t rows = 0;
  const Result<> done = attempt(within, [&](sql::Connection& connection, bool again) -> Result<> {
    const Result<TimePoint> now = now_on(connection);
    if (!now) return fail(now.error());
    Values values;
    values.text(written((*view)->shape.start_time, *now));
    values.number(seconds_of(settings_.min_interval)).number(seconds_of(settings_.timeout_window));
    values.text(written((*view)->shape.next_retry, *now)).id(*id);
    values.number(static_cast<std::int64_t>(ErrStatus::kNeedsPerson)).id((*view)->fail);
    const auto begun = connection.execute((*view)->statements.retry_anew, values.view());
    if (!begun) return fail(begun.error());
    rows = *begun;
    if (rows > 0 || !again) return {};
    // An earlier try, whose reply was lost, may have done it.
    const auto row = find_on(connection, **view, *id);
    if (!row) return fail(row.error());
    const bool is_begun =
        *row && (**row).err_status == static_cast<std::int32_t>(ErrStatus::kWaiting);
    rows = is_begun ? 1 : 0;
    return {};
  });
  if (!done) return fail(done.error());
  return rows;
}

Result<std::int64_t> SqlTable::processing_successful(const RowId& given, Duration within) {
  const Result<Seen> view = ready();
  if (!view) return fail(view.error());
  const Result<RowId> id = parse_id(to_string(given));
  if (!id) return fail(id.error());
  std::int64_t rows = 0;
  const Result<> done = attempt(within, [&](sql::Connection& connection, bool) -> Result<> {
    Values values;
    values.id((*view)->success).id(*id);
    const auto written =
        connection.execute((*view)->statements.processing_successful, values.view());
    if (!written) return fail(written.error());
    rows = *written;
    return {};
  });
  if (!done) return fail(done.error());
  return rows;
}

}  // namespace recourse::guard

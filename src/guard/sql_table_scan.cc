// The steps of a scan before its reminders (GUARD-6 to GUARD-11).
#include <algorithm>
#include <limits>
#include <utility>

#include "guard/sql_table.h"
#include "guard/sweep.h"

namespace recourse::guard {
namespace {

// Different windows that are asked for together, and how often in one promote(), which a stop waits
// for; nearly always there is one. Where there are more, the next promote() goes on behind them.
constexpr std::size_t kWindowsAtOnce = 32;
constexpr int kWindowPages = 8;
constexpr std::int64_t kBeforeAll = std::numeric_limits<std::int64_t>::min();

std::int64_t in_seconds(Duration duration) {
  return std::chrono::ceil<std::chrono::seconds>(duration).count();
}

// Whatever a row has: as long as a column of 32 bits could say.
Duration window_from(std::int64_t seconds) {
  constexpr std::int64_t kMost = std::numeric_limits<std::int32_t>::max();
  return std::chrono::seconds(std::clamp(seconds, -kMost, kMost));
}

}  // namespace

Result<std::vector<SqlTable::Unhealed>> SqlTable::unhealed_on(sql::Connection& connection,
                                                              const View& view,
                                                              std::size_t limit) const {
  std::vector<Unhealed> found;
  const auto add = [&](const sql::Row& row) {
    found.push_back({.id = read_id(row, 0), .lacks_start = row.integer(1) != 0});
  };
  if (!view.statements.without_start.empty()) {
    Values values;
    values.number(static_cast<std::int64_t>(limit));
    const Result<> asked = connection.query(view.statements.without_start, values.view(), add);
    if (!asked) return fail(asked.error());
  }
  if (found.size() >= limit) return found;
  Values values;
  values.id(view.success).number(static_cast<std::int64_t>(limit - found.size()));
  const Result<> asked = connection.query(view.statements.unhealed, values.view(), add);
  if (!asked) return fail(asked.error());
  return found;
}

Result<> SqlTable::heal_one(Sweep& sweep, const View& view, const Unhealed& row, TimePoint now,
                            Healed& healed) const {
  if (row.lacks_start) {
    Values values;
    values.text(written(view.shape.start_time, now)).id(row.id);
    const Result<bool> given = sweep.write(row.id, view.statements.give_start, values);
    if (!given) return fail(given.error());
    healed.got_start_time += *given ? 1 : 0;
  }
  // Only where it has succeeded: that stands in its WHERE.
  Values values;
  values.id(row.id).id(view.success);
  const Result<bool> became = sweep.write(row.id, view.statements.heal, values);
  if (!became) return fail(became.error());
  healed.became_2001 += *became ? 1 : 0;
  return {};
}

Result<Healed> SqlTable::heal(std::size_t limit, Duration within) {
  const Result<Seen> view = ready();
  if (!view) return fail(view.error());
  Healed healed;
  const auto work = [&](sql::Connection& connection, bool) -> Result<> {
    if (undoes_failed_tries()) healed = {};
    const Result<TimePoint> now = now_on(connection);
    if (!now) return fail(now.error());
    const auto found = unhealed_on(connection, **view, limit);
    if (!found) return fail(found.error());
    healed.more = found->size() >= limit;
    Sweep sweep(connection, database_->commits());
    for (const Unhealed& row : *found) {
      if (Result<> done = heal_one(sweep, **view, row, *now, healed); !done) return done;
    }
    return finish(sweep);
  };
  if (const Result<> done = attempt(within, work); !done) return fail(done.error());
  return healed;
}

Result<std::vector<RowId>> SqlTable::due(std::size_t limit, Duration within) {
  const Result<Seen> view = ready();
  if (!view) return fail(view.error());
  const Statements& statements = (*view)->statements;
  std::vector<RowId> ids;
  const auto work = [&](sql::Connection& connection, bool) -> Result<> {
    ids.clear();
    const auto add = [&](const sql::Row& row) { ids.push_back(read_id(row, 0)); };
    const Result<TimePoint> now = now_on(connection);
    if (!now) return fail(now.error());
    Values without;
    without.id((*view)->fail).number(static_cast<std::int64_t>(limit));
    Result<> asked = connection.query(statements.due_without_time, without.view(), add);
    if (!asked || ids.size() >= limit) return asked;
    Values values;
    values.text(reached((*view)->shape.next_retry, *now)).id((*view)->fail);
    values.number(static_cast<std::int64_t>(limit - ids.size()));
    return connection.query(statements.due, values.view(), add);
  };
  if (const Result<> done = attempt(within, work); !done) return fail(done.error());
  return ids;
}

Result<std::vector<std::int64_t>> SqlTable::windows_on(sql::Connection& connection,
                                                       const View& view,
                                                       std::int64_t longer_than) const {
  const std::int64_t usual = in_seconds(settings_.timeout_window);
  std::vector<std::int64_t> windows;
  Values values;
  values.number(usual).number(usual).number(longer_than).number(kWindowsAtOnce);
  const Result<> asked =
      connection.query(view.statements.windows, values.view(),
                       [&](const sql::Row& row) { windows.push_back(row.integer(0)); });
  if (!asked) return fail(asked.error());
  return windows;
}

// A row that may be running has a next time that was no later than the last end of a claim when it
// was read: only with the time after that can it be told from one that waits.
Result<> SqlTable::promote_in(sql::Connection& connection, Sweep& sweep, const View& view,
                              std::int64_t window, std::size_t limit,
                              std::vector<RowId>& promoted) const {
  Result<TimePoint> now = now_on(connection);
  if (!now) return fail(now.error());
  const Column& start = view.shape.start_time;
  const Column& next = view.shape.next_retry;
  const TimePoint latest = saturating_add(*now, -window_from(window));
  Values values;
  values.number(in_seconds(settings_.timeout_window)).number(window).text(reached(start, latest));
  values.text(reached(start, latest - grace_of(settings_)));
  values.text(written(next, last_claim_end(settings_, *now)));
  values.number(static_cast<std::int64_t>(limit - promoted.size()));
  std::vector<Row> over;
  const Result<> asked =
      connection.query(view.statements.past_window, values.view(), [&](const sql::Row& row) {
        Row& seen = over.emplace_back(
            Row{.id = read_id(row, 0), .start_time = read_time(row, 1, clocks_.of(start))});
        if (!row.is_null(2)) seen.timeout = window_from(row.integer(2));
        seen.next_retry = read_time(row, 3, clocks_.of(next));
      });
  if (!asked) return asked;
  if (over.empty()) return {};
  if (now = now_on(connection); !now) return fail(now.error());
  for (const Row& row : over) {
    if (!is_given_up(row, settings_, *now)) continue;
    const Result<bool> done = give_up(sweep, view, row, *now);
    if (!done) return fail(done.error());
    if (*done) promoted.push_back(row.id);
  }
  return {};
}

Result<bool> SqlTable::promote_page(sql::Connection& connection, Sweep& sweep, const View& view,
                                    std::size_t limit, std::vector<RowId>& promoted) {
  std::int64_t done_up_to = promoted_up_to();
  const auto windows = windows_on(connection, view, done_up_to);
  if (!windows) return fail(windows.error());
  for (const std::int64_t window : *windows) {
    if (promoted.size() >= limit) break;
    if (Result<> done = promote_in(connection, sweep, view, window, limit, promoted); !done) {
      return fail(done.error());
    }
    if (promoted.size() < limit) done_up_to = window;
  }
  const bool is_last = windows->size() < kWindowsAtOnce && promoted.size() < limit;
  set_promoted_up_to(is_last ? kBeforeAll : done_up_to);
  return !is_last;
}

Result<std::vector<RowId>> SqlTable::promote(std::size_t limit, Duration within) {
  const Result<Seen> view = ready();
  if (!view) return fail(view.error());
  std::vector<RowId> promoted;
  const auto work = [&](sql::Connection& connection, bool) -> Result<> {
    if (undoes_failed_tries()) promoted.clear();
    Sweep sweep(connection, database_->commits());
    for (int page = 0; page < kWindowPages && promoted.size() < limit; ++page) {
      const Result<bool> more = promote_page(connection, sweep, **view, limit, promoted);
      if (!more) return fail(more.error());
      if (!*more) break;
    }
    return finish(sweep);
  };
  if (const Result<> done = attempt(within, work); !done) return fail(done.error());
  return promoted;
}

// Where is_given_up() still says so.
Result<bool> SqlTable::give_up(Sweep& sweep, const View& view, const Row& row,
                               TimePoint now) const {
  const Column& start = view.shape.start_time;
  const TimePoint latest = saturating_add(now, -window_of(row, settings_));
  Values values;
  values.id(row.id).text(reached(start, latest)).text(reached(start, latest - grace_of(settings_)));
  values.text(written(view.shape.next_retry, last_claim_end(settings_, now)));
  return sweep.write(row.id, view.statements.promote, values);
}

Result<bool> SqlTable::give_to_person(const RowId& id, TimePoint began_by, Duration within) {
  const Result<Seen> view = ready();
  if (!view) return fail(view.error());
  bool given = false;
  const auto work = [&](sql::Connection& connection, bool again) -> Result<> {
    const Result<TimePoint> now = now_on(connection);
    if (!now) return fail(now.error());
    Values values;
    values.id(id).text(reached((*view)->shape.next_retry, *now));
    values.text(reached((*view)->shape.start_time, began_by)).id((*view)->fail);
    const auto done = connection.execute((*view)->statements.give_to_person, values.view());
    if (!done) return fail(done.error());
    given = *done > 0;
    if (given || !again) return {};
    const auto row = find_on(connection, **view, id);
    if (!row) return fail(row.error());
    given = *row && (**row).err_status == static_cast<std::int32_t>(ErrStatus::kNeedsPerson);
    return {};
  };
  if (const Result<> done = attempt(within, work); !done) return fail(done.error());
  return given;
}

}  // namespace recourse::guard

// The reminders of a scan (GUARD-12).
#include <algorithm>
#include <utility>

#include "guard/sql_table.h"
#include "guard/sweep.h"

namespace recourse::guard {

Result<std::vector<ReminderClaim>> SqlTable::take_reminders(std::size_t limit, Duration hold,
                                                            Duration within) {
  const Result<Seen> view = ready();
  if (!view) return fail(view.error());
  const Statements& statements = (*view)->statements;
  const Column& remind = (*view)->shape.next_remind;
  std::vector<ReminderClaim> taken;
  const auto work = [&](sql::Connection& connection, bool) -> Result<> {
    if (undoes_failed_tries()) taken.clear();
    const Result<TimePoint> now = now_on(connection);
    if (!now) return fail(now.error());
    std::vector<Row> rows;
    const auto add = [&](const sql::Row& row) {
      rows.push_back(read_row(row, (*view)->shape, settings_, clocks_));
    };
    const auto left = [&] {
      return static_cast<std::int64_t>(limit - std::min(limit, taken.size() + rows.size()));
    };
    Values unset;
    unset.id((*view)->fail).id((*view)->success).id((*view)->fail).number(left());
    Result<> asked = connection.query(statements.unreminded, unset.view(), add);
    if (!asked) return asked;
    Values due;
    due.id((*view)->fail).id((*view)->success).text(reached(remind, *now));
    due.id((*view)->fail).number(left());
    if (asked = connection.query(statements.reminders, due.view(), add); !asked) return asked;
    Sweep sweep(connection, database_->commits());
    const TimePoint token = kept(remind, *now + std::max<Duration>(hold, std::chrono::seconds(1)));
    for (Row& row : rows) {
      Values values;
      values.text(written(remind, token)).id(row.id).id((*view)->fail).text(reached(remind, *now));
      const Result<bool> done = sweep.write(row.id, statements.take_reminder, values);
      if (!done) return fail(done.error());
      if (*done) taken.push_back({.row = std::move(row), .token = token});
    }
    return finish(sweep);
  };
  if (const Result<> done = attempt(within, work); !done) return fail(done.error());
  return taken;
}

Result<bool> SqlTable::reminded(const ReminderClaim& claim, bool sent, Duration within) {
  const Result<Seen> view = ready();
  if (!view) return fail(view.error());
  const Column& remind = (*view)->shape.next_remind;
  bool ours = false;
  std::optional<TimePoint> next;
  const auto work = [&](sql::Connection& connection, bool again) -> Result<> {
    const Result<TimePoint> now = now_on(connection);
    if (!now) return fail(now.error());
    if (!next) next = kept(remind, next_reminder(claim.row, settings_, *now));
    Values values;
    values.number(static_cast<std::int64_t>(sent ? ManualStatus::kTold : ManualStatus::kNotTold));
    values.number(claim.row.notify_count + (sent ? 1 : 0)).text(written(remind, *next));
    values.id(claim.row.id).text(written(remind, claim.token));
    const auto done = connection.execute((*view)->statements.reminded, values.view());
    if (!done) return fail(done.error());
    ours = *done > 0;
    if (ours || !again) return {};
    const auto row = find_on(connection, **view, claim.row.id);
    if (!row) return fail(row.error());
    ours = *row && (**row).next_remind == next;
    return {};
  };
  if (const Result<> done = attempt(within, work); !done) return fail(done.error());
  return ours;
}

Result<bool> SqlTable::put_off(ReminderClaim& claim, Duration wait, Duration within) {
  const Result<Seen> view = ready();
  if (!view) return fail(view.error());
  const Column& remind = (*view)->shape.next_remind;
  bool ours = false;
  std::optional<TimePoint> token;
  const auto work = [&](sql::Connection& connection, bool again) -> Result<> {
    const Result<TimePoint> now = now_on(connection);
    if (!now) return fail(now.error());
    if (!token) token = kept(remind, whole_seconds_up(*now + std::min(wait, kLongestWait)));
    Values values;
    values.text(written(remind, *token)).id(claim.row.id).text(written(remind, claim.token));
    const auto done = connection.execute((*view)->statements.put_off, values.view());
    if (!done) return fail(done.error());
    ours = *done > 0;
    if (ours || !(again || *token == claim.token)) return {};
    const auto row = find_on(connection, **view, claim.row.id);
    if (!row) return fail(row.error());
    ours = *row && (**row).next_remind == token &&
           (**row).err_status == static_cast<std::int32_t>(ErrStatus::kNeedsPerson);
    return {};
  };
  if (const Result<> done = attempt(within, work); !done) return fail(done.error());
  if (ours) claim.token = *token;
  return ours;
}

}  // namespace recourse::guard

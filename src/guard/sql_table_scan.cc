// The four steps of a scan (GUARD-6 to GUARD-12).
#include <algorithm>
#include <utility>

#include "guard/sql_table.h"

namespace recourse::guard {

// Of rows that a scan writes to, one by one: each is locked only for its own moment. Those that the
// application has locked are left for the next scan, and after a few of them all the rest.
class SqlTable::Sweep {
 public:
  explicit Sweep(sql::Connection& connection) : connection_(connection) {}

  // Whether the row was written to.
  Result<bool> write(const std::string& statement, const Values& values) {
    if (locked_ == kLockedMax) return false;
    const auto written = connection_.execute(statement, values.view());
    if (written) return *written > 0;
    if (written.error().code != ErrorCode::kExhausted) return fail(written.error());
    ++locked_;
    return false;
  }

 private:
  static constexpr int kLockedMax = 3;

  sql::Connection& connection_;
  int locked_ = 0;
};

Result<Healed> SqlTable::heal(Duration within) {
  const Result<Seen> view = ready();
  if (!view) return fail(view.error());
  const Statements& statements = (*view)->statements;
  Healed healed;
  const auto work = [&](sql::Connection& connection, bool) -> Result<> {
    const Result<TimePoint> now = now_on(connection);
    if (!now) return fail(now.error());
    std::vector<std::pair<RowId, bool>> found;
    Values success;
    success.id((*view)->success);
    const Result<> asked = connection.query(
        statements.unhealed, success.view(),
        [&](const sql::Row& row) { found.emplace_back(read_id(row, 0), row.integer(1) != 0); });
    if (!asked) return asked;
    Sweep sweep(connection);
    for (const auto& [id, lacks_start] : found) {
      if (lacks_start) {
        Values values;
        values.text(written((*view)->shape.start_time, *now)).id(id);
        const Result<bool> given = sweep.write(statements.give_start, values);
        if (!given) return fail(given.error());
        healed.got_start_time += *given ? 1 : 0;
      }
      // Only where it has succeeded: that stands in its WHERE.
      Values values;
      values.id(id).id((*view)->success);
      const Result<bool> became = sweep.write(statements.heal, values);
      if (!became) return fail(became.error());
      healed.became_2001 += *became ? 1 : 0;
    }
    return {};
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

Result<std::vector<RowId>> SqlTable::promote(std::size_t limit, Duration within) {
  const Result<Seen> view = ready();
  if (!view) return fail(view.error());
  const Column& start = (*view)->shape.start_time;
  std::vector<RowId> promoted;
  const auto work = [&](sql::Connection& connection, bool) -> Result<> {
    Result<TimePoint> now = now_on(connection);
    if (!now) return fail(now.error());
    Values values;
    values.text(reached(start, *now));
    // Past their window: for longer than their grace, and not.
    std::vector<Row> over;
    std::vector<Row> ending;
    const auto look = [&](const sql::Row& row) {
      Row seen{.id = read_id(row, 0), .start_time = read_time(row, 1, clocks_.of(start))};
      if (!row.is_null(2)) seen.timeout = std::chrono::seconds(row.integer(2));
      if (!is_past_window(seen, settings_, *now)) return;
      auto& found = is_given_up(seen, settings_, *now) ? over : ending;
      if (found.size() < limit) found.push_back(std::move(seen));
    };
    const Result<> asked = connection.query((*view)->statements.waiting, values.view(), look);
    if (!asked) return asked;
    Sweep sweep(connection);
    const auto promote_one = [&](const Row& row) -> Result<> {
      const Result<bool> done = give_up(sweep, **view, row, *now);
      if (!done) return fail(done.error());
      if (*done) promoted.push_back(row.id);
      return {};
    };
    for (const Row& row : over) {
      if (promoted.size() >= limit) return {};
      if (Result<> done = promote_one(row); !done) return done;
    }
    for (const Row& row : ending) {
      if (promoted.size() >= limit) return {};
      const auto found = find_on(connection, **view, row.id);
      if (!found) return fail(found.error());
      // After the look: a claim that it shows is older than this.
      if (now = now_on(connection); !now) return fail(now.error());
      if (!*found || !is_given_up(**found, settings_, *now)) continue;
      if (Result<> done = promote_one(**found); !done) return done;
    }
    return {};
  };
  if (const Result<> done = attempt(within, work); !done) return fail(done.error());
  return promoted;
}

// Where is_given_up() still says so.
Result<bool> SqlTable::give_up(Sweep& sweep, const View& view, const Row& row,
                               TimePoint now) const {
  const Column& start = view.shape.start_time;
  const TimePoint latest = now - window_of(row, settings_);
  Values values;
  values.id(row.id).text(reached(start, latest)).text(reached(start, latest - grace_of(settings_)));
  values.text(written(view.shape.next_retry, last_claim_end(settings_, now)));
  return sweep.write(view.statements.promote, values);
}

Result<std::vector<ReminderClaim>> SqlTable::take_reminders(std::size_t limit, Duration hold,
                                                            Duration within) {
  const Result<Seen> view = ready();
  if (!view) return fail(view.error());
  const Statements& statements = (*view)->statements;
  const Column& remind = (*view)->shape.next_remind;
  std::vector<ReminderClaim> taken;
  const auto work = [&](sql::Connection& connection, bool) -> Result<> {
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
    Sweep sweep(connection);
    const TimePoint token = kept(remind, *now + std::max<Duration>(hold, std::chrono::seconds(1)));
    for (Row& row : rows) {
      Values values;
      values.text(written(remind, token)).id(row.id).id((*view)->fail).text(reached(remind, *now));
      const Result<bool> done = sweep.write(statements.take_reminder, values);
      if (!done) return fail(done.error());
      if (*done) taken.push_back({.row = std::move(row), .token = token});
    }
    return {};
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

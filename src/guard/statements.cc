#include "guard/statements.h"

#include <fmt/format.h>

#include "guard/read_row.h"
#include "guard/table.h"

namespace recourse::guard {
namespace {

// Every name that a statement may use, quoted.
struct Names {
  Names(const Shape& shape, const Dialect& dialect)
      : table(dialect.quoted(shape.table)),
        id(dialect.quoted(shape.id.name)),
        status(dialect.quoted(shape.status.name)),
        err_status(dialect.quoted(shape.err_status.name)),
        start(dialect.quoted(shape.start_time.name)),
        retries(dialect.quoted(shape.retry_count.name)),
        next(dialect.quoted(shape.next_retry.name)),
        interval(dialect.quoted(shape.min_interval.name)),
        timeout(dialect.quoted(shape.timeout.name)),
        manual(dialect.quoted(shape.manual_status.name)),
        remind(dialect.quoted(shape.next_remind.name)),
        notified(dialect.quoted(shape.notify_count.name)),
        is_id(id + " = " + dialect.mark(shape.id)),
        is_status(status + " = " + dialect.mark(shape.status)),
        a_status(dialect.mark(shape.status)),
        a_start(dialect.mark(shape.start_time)),
        a_next(dialect.mark(shape.next_retry)),
        a_remind(dialect.mark(shape.next_remind)) {}

  std::string table, id, status, err_status, start, retries, next, interval, timeout, manual,
      remind, notified;
  std::string is_id, is_status, a_status, a_start, a_next, a_remind;
};

constexpr std::string_view kStuck = "IN (4000, 4001)";

// A row that its business begins to retry: count 0, interval and window from the guard. A new error
// of a row whose last one is over has told nobody yet, and begins now.
struct Marking {
  bool from_null = false;
  bool anew = false;
  bool with_user = false;
};

std::string mark(const Names& n, const Shape& shape, const Dialect& dialect, const Marking& how) {
  const std::string start = how.anew ? fmt::format("{} = {}, {} = NULL, {} = NULL, {} = 0", n.start,
                                                   n.a_start, n.manual, n.remind, n.notified)
                                     : fmt::format("{0} = COALESCE({0}, {1})", n.start, n.a_start);
  const std::string user =
      how.with_user && shape.user
          ? fmt::format(", {} = {}", dialect.quoted(shape.user->name), dialect.mark(*shape.user))
          : "";
  return fmt::format(
      "UPDATE {} SET {} = 4000, {}, {} = 0, {} = ?, {} = ?, {} = {}{} WHERE {} AND {}", n.table,
      n.err_status, start, n.retries, n.interval, n.timeout, n.next, n.a_next, user, n.is_id,
      n.err_status + (how.from_null ? " IS NULL" : " = ?"));
}

// One walk over what is stuck, or two looks into an index that knows both.
void add_heal(Statements& s, const Names& n, const std::string& id, bool reads_rows_dearly) {
  const std::string stuck = fmt::format("FROM {} WHERE {} {} AND", n.table, n.err_status, kStuck);
  if (reads_rows_dearly) {
    s.without_start = fmt::format("SELECT {}, 1 {} {} IS NULL LIMIT ?", id, stuck, n.start);
    s.unhealed = fmt::format("SELECT {}, 0 {} {} LIMIT ?", id, stuck, n.is_status);
  } else {
    s.unhealed = fmt::format(
        "SELECT {0}, CASE WHEN {1} IS NULL THEN 1 ELSE 0 END {2} ({1} IS NULL OR {3}) "
        "LIMIT ?",
        id, n.start, stuck, n.is_status);
  }
  s.give_start = fmt::format("UPDATE {} SET {} = {} WHERE {} AND {} {} AND {} IS NULL", n.table,
                             n.start, n.a_start, n.is_id, n.err_status, kStuck, n.start);
  s.heal = fmt::format("UPDATE {} SET {} = 2001 WHERE {} AND {} {} AND {}", n.table, n.err_status,
                       n.is_id, n.err_status, kStuck, n.is_status);
}

void add_due(Statements& s, const Names& n, const std::string& id) {
  s.due_without_time =
      fmt::format("SELECT {} FROM {} WHERE {} = 4000 AND {} IS NULL AND {} LIMIT ?", id, n.table,
                  n.err_status, n.next, n.is_status);
  s.due = fmt::format("SELECT {} FROM {} WHERE {} = 4000 AND {} <= {} AND {} ORDER BY {} LIMIT ?",
                      id, n.table, n.err_status, n.next, n.a_next, n.is_status, n.next);
}

void add_give_up(Statements& s, const Names& n, const std::string& id, const std::string& times) {
  s.windows = fmt::format(
      "SELECT DISTINCT COALESCE({0}, ?) FROM {1} WHERE {2} = 4000 AND COALESCE({0}, ?) > ?"
      " ORDER BY 1 LIMIT ?",
      n.timeout, n.table, n.err_status);
  const std::string is_over =
      fmt::format("{0} <= {1} AND ({0} <= {1} OR {2} > {3})", n.start, n.a_start, n.next, n.a_next);
  s.past_window =
      fmt::format("SELECT {}, {} FROM {} WHERE {} = 4000 AND COALESCE({}, ?) = ? AND {} LIMIT ?",
                  id, times, n.table, n.err_status, n.timeout, is_over);
  const std::string needs_person =
      fmt::format("UPDATE {} SET {} = 4001, {} = NULL, {} = NULL WHERE {} AND {} = 4000 AND",
                  n.table, n.err_status, n.next, n.remind, n.is_id, n.err_status);
  s.promote = fmt::format("{} {}", needs_person, is_over);
  s.give_to_person = fmt::format("{0} ({1} IS NULL OR {1} <= {2}) AND {3} <= {4} AND {5}",
                                 needs_person, n.next, n.a_next, n.start, n.a_start, n.is_status);
}

void add_reminders(Statements& s, const Names& n, const std::string& row) {
  s.unreminded = fmt::format("SELECT {} FROM {} WHERE {} = 4001 AND {} IS NULL AND {} LIMIT ?", row,
                             n.table, n.err_status, n.remind, n.is_status);
  s.reminders =
      fmt::format("SELECT {} FROM {} WHERE {} = 4001 AND {} < {} AND {} ORDER BY {} LIMIT ?", row,
                  n.table, n.err_status, n.remind, n.a_remind, n.is_status, n.remind);
  s.take_reminder = fmt::format(
      "UPDATE {0} SET {1} = {2} WHERE {3} AND {4} = 4001 AND {5} AND ({1} IS NULL OR {1} < {2})",
      n.table, n.remind, n.a_remind, n.is_id, n.err_status, n.is_status);
  s.reminded = fmt::format(
      "UPDATE {0} SET {1} = ?, {2} = ?, {3} = {4} WHERE {5} AND {6} = 4001 AND {3} = {4}", n.table,
      n.manual, n.notified, n.remind, n.a_remind, n.is_id, n.err_status);
  s.put_off = fmt::format("UPDATE {0} SET {1} = {2} WHERE {3} AND {4} = 4001 AND {1} = {2}",
                          n.table, n.remind, n.a_remind, n.is_id, n.err_status);
}

void add_retry(Statements& s, const Names& n) {
  const std::string ours =
      fmt::format("{} AND {} = 4000 AND {} = {}", n.is_id, n.err_status, n.next, n.a_next);
  const std::string same_count = fmt::format("COALESCE({}, 0) = ?", n.retries);
  s.claim = fmt::format(
      "UPDATE {0} SET {1} = {2} WHERE {3} AND {4} = 4000 AND {5} IS NOT NULL"
      " AND ({1} IS NULL OR {1} <= {2}) AND {6} AND {7}",
      n.table, n.next, n.a_next, n.is_id, n.err_status, n.start, n.is_status, same_count);
  s.push = fmt::format("UPDATE {0} SET {1} = {2} WHERE {3} AND {4} = 4000 AND {1} = {2} AND {5}",
                       n.table, n.next, n.a_next, n.is_id, n.err_status, same_count);
  // Nothing else that the application has made of the row meanwhile, such as cancelled.
  s.succeeded = fmt::format("UPDATE {0} SET {1} = 2001, {2} = {3} WHERE {4} AND {2} IN ({3}, {3})",
                            n.table, n.err_status, n.status, n.a_status, ours);
  s.retry_later = fmt::format("UPDATE {} SET {} = ?, {} = {} WHERE {} AND {}", n.table, n.retries,
                              n.next, n.a_next, ours, same_count);
  s.escalate = fmt::format("UPDATE {} SET {} = 4001, {} = NULL, {} = NULL WHERE {} AND {}", n.table,
                           n.err_status, n.next, n.remind, ours, same_count);
}

void add_business(Statements& s, const Names& n, const Shape& shape, const Dialect& dialect,
                  const std::string& id) {
  s.mark_from_null = mark(n, shape, dialect, {.from_null = true});
  s.mark_from = mark(n, shape, dialect, {});
  s.mark_anew_from = mark(n, shape, dialect, {.anew = true});
  s.mark_from_null_with_user = mark(n, shape, dialect, {.from_null = true, .with_user = true});
  s.mark_from_with_user = mark(n, shape, dialect, {.with_user = true});
  s.mark_anew_from_with_user = mark(n, shape, dialect, {.anew = true, .with_user = true});
  s.retry_anew = s.mark_anew_from + " AND " + n.is_status;
  s.processing_successful =
      fmt::format("UPDATE {} SET {} = 2002, {} = 4002, {} = {} WHERE {}", n.table, n.err_status,
                  n.manual, n.status, n.a_status, n.is_id);
  if (!shape.user) return;
  const std::string is_user =
      fmt::format("{} = {}", dialect.quoted(shape.user->name), dialect.mark(*shape.user));
  s.open_rows_of = fmt::format("SELECT {} FROM {} WHERE {} AND {} {} LIMIT ?", id, n.table, is_user,
                               n.err_status, kStuck);
  s.set_user = fmt::format("UPDATE {} SET {} WHERE {}", n.table, is_user, n.is_id);
}

}  // namespace

Statements::Statements(const Shape& shape, const Dialect& dialect, const std::string& skip_locked) {
  const Names names(shape, dialect);
  const std::string row = row_columns(shape, dialect);
  const std::string row_id = id_column(shape, dialect);
  const std::string from = fmt::format("SELECT {} FROM {} WHERE ", row, names.table);
  find = from + names.is_id;
  find_free = find;
  std::string ids;
  for (std::size_t i = 0; i < kPushedMax; ++i) ids += (i == 0 ? "" : ", ") + dialect.mark(shape.id);
  find_free_many = fmt::format("{}{} IN ({})", from, names.id, ids);
  add_heal(*this, names, row_id, dialect.reads_rows_dearly());
  add_due(*this, names, row_id);
  add_give_up(*this, names, row_id,
              fmt::format("{}, {}, {}", dialect.as_time(shape.start_time), names.timeout,
                          dialect.as_time(shape.next_retry)));
  add_reminders(*this, names, row);
  add_retry(*this, names);
  add_business(*this, names, shape, dialect, row_id);
  for (std::string* reading : {&find_free, &find_free_many, &without_start, &unhealed, &past_window,
                               &unreminded, &reminders}) {
    if (!reading->empty()) *reading += skip_locked;
  }
}

}  // namespace recourse::guard

// The statements of one guarded table, made once when it is opened. Names are quoted; every value
// is a `?`. The comment above each says its values, in their order.
//
// Codes stand in the text: that is how a planner knows that an index of stuck rows is enough.
#pragma once

#include <string>

#include "guard/dialect.h"
#include "guard/shape.h"

namespace recourse::guard {

struct Statements {
  // `skip_locked`: see Dialect. Rows that are about to be written to are read with it.
  Statements(const Shape& shape, const Dialect& dialect, const std::string& skip_locked);

  // A row's columns begin with `status = fail` and `status = success`, as the database compares.
  // fail, success, id
  std::string find;
  // The same, where nobody has locked it.
  std::string find_free;
  // fail, success, id x kPushedMax
  std::string find_free_many;

  // --- the scan ---
  // limit
  std::string without_start;  // id, 1; empty where `unhealed` finds those too
  // success, limit
  std::string unhealed;  // id, 1 where it has no start time
  // start, id
  std::string give_start;
  // id, success
  std::string heal;
  // fail, limit
  std::string due_without_time;
  // now, fail, limit
  std::string due;
  // In seconds, each once: the row's own, or the guard's.
  // guard's window, guard's window, only longer than, limit
  std::string windows;
  // guard's window, window, latest start, latest start with the grace, last end of a claim, limit
  std::string past_window;  // id, start, timeout, next
  // id, latest start, latest start with the grace, last end of a claim
  std::string promote;
  // id, now, latest start, fail
  std::string give_to_person;
  // fail, success, fail, limit
  std::string unreminded;
  // fail, success, now, fail, limit
  std::string reminders;
  // token, id, fail, now
  std::string take_reminder;
  // manual status, notify count, next, id, token
  std::string reminded;
  // new token, id, token
  std::string put_off;

  // --- one row's retry ---
  // token, id, now, fail, retries
  std::string claim;
  // new token, id, token, retries
  std::string push;
  // success, id, token
  std::string succeeded;
  // retries, next, id, token, retries before
  std::string retry_later;
  // id, token, retries before
  std::string escalate;

  // --- the business' side ---
  // user, limit
  std::string open_rows_of;
  // start, interval, window, next, [user,] id; old err_status where there is one
  std::string mark_from_null;
  std::string mark_from;
  std::string mark_anew_from;
  std::string mark_from_null_with_user;
  std::string mark_from_with_user;
  std::string mark_anew_from_with_user;
  // user, id
  std::string set_user;
  // success, id
  std::string processing_successful;
  // mark_anew_from, and the row still has the fail value.
  std::string retry_anew;
};

}  // namespace recourse::guard

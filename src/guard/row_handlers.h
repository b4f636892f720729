// What a user brings to heal rows with, in the process or behind a URL.
#pragma once

#include <cstdint>
#include <functional>
#include <stop_token>
#include <string>

#include "base/result.h"
#include "base/time.h"
#include "guard/row.h"
#include "task/ids.h"

namespace recourse::guard {

// One row in one run, as user code sees it.
struct RowCall {
  const RowId& id;
  // Of the engine's task that runs it: the same in every retry of one error.
  task::TaskId task;
  // 1, 2, 3, ... over the task's life.
  int attempt = 1;
  // Set when its time is up, or the node is about to end.
  std::stop_token stop;
  // Of the run's time, when this call began.
  Duration time_left;
};

// What a run says of user code that did not mend its row, in words that its author knows.
struct RowWords {
  // Before what it threw.
  std::string check_threw = "check_status threw: ";
  std::string handle_threw = "handle_exception threw: ";
  std::string not_handled = "handle_exception answered false";
  std::string not_well = "handle_exception answered true, but check_status still says no";
};

// They are called from many threads at once, may block, and may throw what they like: that is a
// failure.
struct RowHandlers {
  // Has the business succeeded by now?
  std::function<bool(const RowCall&)> check_status;
  // One more try. What it answers is not believed: the status is checked again.
  std::function<bool(const RowCall&)> handle_exception;
  // A person has dealt with it. Answers rows written; 0: no such row. Empty: the table's
  // processing_successful.
  std::function<Result<std::int64_t>(const RowId&)> manual_success = nullptr;
  RowWords words = {};
};

}  // namespace recourse::guard

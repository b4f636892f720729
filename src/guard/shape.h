// The columns of one guard, as its table has them.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "guard/dialect.h"
#include "guard/settings.h"

namespace recourse::guard {

struct Shape {
  std::string table;
  Column id;
  Column status;
  std::optional<Column> user;
  // Those of the guard's own that are missing are as they will be added.
  Column err_status;
  Column start_time;
  Column retry_count;
  Column next_retry;
  Column min_interval;
  Column timeout;
  Column manual_status;
  Column next_remind;
  Column notify_count;
  // All of the table, in its order.
  std::vector<Column> all;
  std::vector<const GuardColumn*> missing;
};

// kInvalid: every field that does not fit the table, at once.
Result<Shape> shape_of(const Layout& layout, const Dialect& dialect, const GuardSettings& settings);

// What would have to be done, in its order.
std::vector<Change> changes_for(const Layout& layout, const Dialect& dialect,
                                const GuardSettings& settings);

}  // namespace recourse::guard

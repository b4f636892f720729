// A guarded row, out of a result.
#pragma once

#include <string>

#include "guard/dialect.h"
#include "guard/row.h"
#include "guard/settings.h"
#include "guard/shape.h"
#include "guard/wall_clock.h"
#include "sql/value.h"

namespace recourse::guard {

// The clocks of a table's two sorts of times.
struct TableClocks {
  // Of the table's zone.
  WallClock wall;
  WallClock utc{TimeZone()};

  [[nodiscard]] const WallClock& of(const Column& column) const {
    return column.sort == ColumnSort::kInstant ? utc : wall;
  }
};

std::string id_column(const Shape& shape, const Dialect& dialect);
// What read_row reads, with the values fail and success.
std::string row_columns(const Shape& shape, const Dialect& dialect);

RowId read_id(const sql::Row& row, std::size_t column);
std::optional<TimePoint> read_time(const sql::Row& row, std::size_t column, const WallClock& clock);
// A status that the database holds for equal to the guard's fail or success value is read as that
// one: its collation may know better than bytes do.
Row read_row(const sql::Row& row, const Shape& shape, const GuardSettings& settings,
             const TableClocks& clocks);

}  // namespace recourse::guard

#include "guard/read_row.h"

#include <fmt/format.h>

#include <limits>

namespace recourse::guard {
namespace {

std::optional<std::int32_t> read_number(const sql::Row& row, std::size_t column) {
  if (row.is_null(column)) return std::nullopt;
  const std::int64_t number = row.integer(column);
  constexpr std::int64_t kMost = std::numeric_limits<std::int32_t>::max();
  return static_cast<std::int32_t>(std::min(std::max(number, -kMost), kMost));
}

std::optional<Duration> read_seconds(const sql::Row& row, std::size_t column) {
  const std::optional<std::int32_t> number = read_number(row, column);
  if (!number) return std::nullopt;
  return std::chrono::seconds(*number);
}

std::optional<std::string> read_status(const sql::Row& row, const GuardSettings& settings) {
  if (row.is_null(3)) return std::nullopt;
  if (row.integer(0) != 0) return settings.fail_value;
  if (row.integer(1) != 0) return settings.success_value;
  return std::string(row.bytes(3));
}

}  // namespace

std::string id_column(const Shape& shape, const Dialect& dialect) {
  return shape.id.sort == ColumnSort::kOther ? dialect.as_text(shape.id)
                                             : dialect.quoted(shape.id.name);
}

std::string row_columns(const Shape& shape, const Dialect& dialect) {
  const auto name = [&](const Column& column) { return dialect.quoted(column.name); };
  const std::string is_status =
      fmt::format("{} = {}", name(shape.status), dialect.mark(shape.status));
  return fmt::format("{}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}", is_status, is_status,
                     id_column(shape, dialect), dialect.as_text(shape.status),
                     name(shape.err_status), dialect.as_time(shape.start_time),
                     name(shape.retry_count), dialect.as_time(shape.next_retry),
                     name(shape.min_interval), name(shape.timeout), name(shape.manual_status),
                     dialect.as_time(shape.next_remind), name(shape.notify_count));
}

RowId read_id(const sql::Row& row, std::size_t column) {
  if (row.cell(column) == sql::Row::Cell::kInteger) return row.integer(column);
  return row.is_null(column) ? std::string() : std::string(row.bytes(column));
}

std::optional<TimePoint> read_time(const sql::Row& row, std::size_t column,
                                   const WallClock& clock) {
  if (row.is_null(column)) return std::nullopt;
  return clock.read(row.bytes(column));
}

Row read_row(const sql::Row& row, const Shape& shape, const GuardSettings& settings,
             const TableClocks& clocks) {
  return {.id = read_id(row, 2),
          .business_status = read_status(row, settings),
          .err_status = read_number(row, 4),
          .start_time = read_time(row, 5, clocks.of(shape.start_time)),
          .retries = read_number(row, 6).value_or(0),
          .next_retry = read_time(row, 7, clocks.of(shape.next_retry)),
          .min_interval = read_seconds(row, 8),
          .timeout = read_seconds(row, 9),
          .manual_status = read_number(row, 10),
          .next_remind = read_time(row, 11, clocks.of(shape.next_remind)),
          .notify_count = read_number(row, 12).value_or(0)};
}

}  // namespace recourse::guard

#include "guard/values_of.h"

#include <fmt/format.h>

#include <charconv>
#include <optional>
#include <string_view>

#include "base/text.h"

namespace recourse::guard {
namespace {

constexpr std::size_t kValueBytesMax = 255;

std::optional<std::int64_t> whole_number(std::string_view text) {
  std::int64_t number = 0;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), number);
  if (read.ec != std::errc() || read.ptr != text.data() + text.size()) return std::nullopt;
  return number;
}

// As the database writes it, so that one row has one id.
Result<RowId> uuid_of(const std::string& text) {
  std::string uuid;
  for (const char c : text) {
    const bool is_digit = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
    const bool is_capital = c >= 'A' && c <= 'F';
    if (c == '-') continue;
    if (!is_digit && !is_capital) return fail(ErrorCode::kInvalid, "must be a UUID");
    uuid += is_capital ? static_cast<char>(c - 'A' + 'a') : c;
  }
  if (uuid.size() != 32) return fail(ErrorCode::kInvalid, "must be a UUID");
  for (const std::size_t place : {8U, 13U, 18U, 23U}) uuid.insert(place, 1, '-');
  return RowId(uuid);
}

}  // namespace

Result<RowId> value_of(const Column& column, const std::string& text) {
  if (text.empty() || text.size() > kValueBytesMax || !is_plain_text(text)) {
    return fail(ErrorCode::kInvalid, "must be text of 1 to 255 bytes without control characters");
  }
  const std::optional<std::int64_t> number = whole_number(text);
  switch (column.sort) {
    case ColumnSort::kNumber:
      if (number) return RowId(*number);
      return fail(ErrorCode::kInvalid,
                  fmt::format("must be a whole number, because {} is {}, not {}", column.name,
                              column.type, shown(text)));
    case ColumnSort::kEither: return number ? RowId(*number) : RowId(text);
    case ColumnSort::kText:
    case ColumnSort::kWallTime:
    case ColumnSort::kInstant:
    case ColumnSort::kBytes:
    case ColumnSort::kOther: break;
  }
  return column.type == "uuid" ? uuid_of(text) : Result<RowId>(RowId(text));
}

}  // namespace recourse::guard

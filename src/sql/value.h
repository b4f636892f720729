// What is bound to a statement and read from a row.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <variant>

namespace recourse::sql {

// UTF-8 without NUL.
struct Text {
  std::string_view value;
};
struct Bytes {
  std::string_view value;
};
struct Null {};

// Views: what they point to must outlive the call.
using Value = std::variant<Null, std::int64_t, Text, Bytes>;

// One row of an answer, valid only inside the callback that gets it. Columns count from 0. Asking
// for a number where the column holds text, or the other way round, is a programming error.
class Row {
 public:
  virtual ~Row() = default;

  enum class Cell : std::uint8_t { kNull, kInteger, kText, kBytes };
  // For statements of a user's own, whose columns nobody here knows.
  [[nodiscard]] virtual std::size_t columns() const = 0;
  [[nodiscard]] virtual Cell cell(std::size_t column) const = 0;

  [[nodiscard]] virtual bool is_null(std::size_t column) const = 0;
  [[nodiscard]] virtual std::int64_t integer(std::size_t column) const = 0;
  // Text or bytes.
  [[nodiscard]] virtual std::string_view bytes(std::size_t column) const = 0;
};

}  // namespace recourse::sql

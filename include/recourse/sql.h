// Values of a user's own statements, on any store. Statements have a `?` for each value.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace recourse {

// For columns of bytes (BLOB, bytea, BINARY). A std::string is text, in UTF-8.
struct SqlBytes {
  std::string value;

  friend bool operator==(const SqlBytes&, const SqlBytes&) = default;
};

// std::monostate is NULL. What is neither a whole number, a text nor bytes is best cast to text in
// the statement.
using SqlValue = std::variant<std::monostate, std::int64_t, std::string, SqlBytes>;
using SqlValues = std::vector<SqlValue>;
using SqlRow = std::vector<SqlValue>;

}  // namespace recourse

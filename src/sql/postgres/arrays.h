// Whole columns as one parameter, for `... FROM unnest(?, ?)`: a batch of 500 rows is one statement
// with one value per column, and nothing is allocated per cell.
#pragma once

#include <libpq-fe.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace recourse::sql::postgres {

// A value as it goes over the wire.
struct Param {
  Oid type;
  std::optional<std::string> binary;  // empty for NULL
};

Param integer_param(std::int64_t number);
Param text_param(std::string_view text);
Param bytes_param(std::string_view bytes);

enum class Element : std::uint8_t { kInt8, kText, kBytea };

// One of the type that an array's elements have. Bytes as they go over the wire; empty for NULL.
Param value_param(Element element, std::optional<std::string> binary);

class ArrayParam {
 public:
  explicit ArrayParam(Element element);

  // Only saves allocations; `bytes` is what all texts or bytes together take.
  void reserve(std::size_t elements, std::size_t bytes = 0);

  // A number into an array of numbers, bytes into one of texts or bytes; else a programming error.
  void add(std::int64_t number);
  void add(std::string_view bytes);
  void add_null();

  // The array is used up.
  [[nodiscard]] Param finish() &&;

 private:
  char* grow(std::size_t bytes);

  Element element_;
  std::string buffer_;
  std::uint32_t count_ = 0;
  bool has_null_ = false;
};

}  // namespace recourse::sql::postgres

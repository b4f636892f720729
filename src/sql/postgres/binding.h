// Values in the arrays that libpq wants, kept from call to call so that nothing is allocated.
//
// Thread safety: none.
#pragma once

#include <libpq-fe.h>

#include <array>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "sql/postgres/arrays.h"
#include "sql/value.h"

namespace recourse::sql::postgres {

class Binding {
 public:
  // Views: the values must live until the statement is sent.
  void set(std::span<const Value> values);
  void set(std::span<const Param> params);

  [[nodiscard]] int count() const { return static_cast<int>(types_.size()); }
  [[nodiscard]] std::span<const Oid> types() const { return types_; }
  [[nodiscard]] const char* const* pointers() const { return pointers_.data(); }
  [[nodiscard]] const int* lengths() const { return lengths_.data(); }
  [[nodiscard]] const int* formats() const { return formats_.data(); }

 private:
  using Number = std::array<char, sizeof(std::int64_t)>;

  void resize(std::size_t count);
  void set_value(std::size_t at, const Value& value);
  void set_bytes(std::size_t at, Oid type, std::string_view bytes);
  void set_null(std::size_t at, Oid type);

  std::vector<Oid> types_;
  std::vector<const char*> pointers_;
  std::vector<int> lengths_;
  std::vector<int> formats_;
  std::vector<Number> numbers_;
};

}  // namespace recourse::sql::postgres

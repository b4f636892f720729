// Columns of a batch, filled row by row and handed over as arrays.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "base/time.h"
#include "base/ulid.h"
#include "sql/postgres/arrays.h"

namespace recourse::store::postgres {

class Columns {
 public:
  explicit Columns(std::initializer_list<sql::postgres::Element> elements, std::size_t rows) {
    for (const sql::postgres::Element element : elements) {
      arrays_.emplace_back(element).reserve(rows, rows * kTypicalBytes);
    }
  }

  // The next cell, from the first column to the last, then again.
  Columns& integer(std::int64_t value) {
    next().add(value);
    return *this;
  }
  Columns& time(TimePoint value) { return integer(value.time_since_epoch().count()); }
  Columns& time(const std::optional<TimePoint>& value) { return value ? time(*value) : null(); }
  Columns& text(std::string_view value) {
    next().add(value);
    return *this;
  }
  Columns& id(const Ulid& value) {
    return text({reinterpret_cast<const char*>(value.bytes.data()), value.bytes.size()});
  }
  Columns& null() {
    next().add_null();
    return *this;
  }

  std::vector<sql::postgres::Param> finish() && {
    std::vector<sql::postgres::Param> params;
    params.reserve(arrays_.size());
    for (sql::postgres::ArrayParam& array : arrays_) params.push_back(std::move(array).finish());
    return params;
  }

 private:
  static constexpr std::size_t kTypicalBytes = 16;

  sql::postgres::ArrayParam& next() {
    sql::postgres::ArrayParam& array = arrays_[column_];
    column_ = column_ + 1 == arrays_.size() ? 0 : column_ + 1;
    return array;
  }

  std::vector<sql::postgres::ArrayParam> arrays_;
  std::size_t column_ = 0;
};

}  // namespace recourse::store::postgres

// Columns of a batch, filled row by row and handed over as arrays, or as one value where all rows
// have the same.
//
// In a batch most columns are the same all through: the kind, the state, the lease. The server has
// to take apart and store every array again before it reads it, so what is the same is sent once: a
// column is two parameters, a single value and an array, and a statement reads
// `COALESCE(array's, single)`. Where the rows differ, the single value is NULL; where they do not,
// the array is empty, and unnest fills it up with NULLs.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/time.h"
#include "base/ulid.h"
#include "sql/postgres/arrays.h"

namespace recourse::store::postgres {

enum class Form : std::uint8_t { kArray, kArrayOrSingle };

class Column {
 public:
  Column(sql::postgres::Element element, Form form, std::size_t rows)
      : array_(element), element_(element), rows_expected_(rows) {
    if (form == Form::kArray) become_array();
  }

  void add(std::int64_t value) {
    if (!is_single_) {
      array_.add(value);
    } else if (rows_ == 0 || (number_ && *number_ == value)) {
      number_ = value;
      ++rows_;
    } else {
      become_array();
      array_.add(value);
    }
  }
  void add(std::string_view value) {
    if (!is_single_) {
      array_.add(value);
    } else if (rows_ == 0) {
      bytes_ = value;
      ++rows_;
    } else if (bytes_ && *bytes_ == value) {
      ++rows_;
    } else {
      become_array();
      array_.add(value);
    }
  }
  void add_null() {
    if (!is_single_) {
      array_.add_null();
    } else if (!number_ && !bytes_) {
      ++rows_;
    } else {
      become_array();
      array_.add_null();
    }
  }

  [[nodiscard]] sql::postgres::Param single() const {
    if (is_single_ && number_) return sql::postgres::integer_param(*number_);
    return sql::postgres::value_param(element_, is_single_ ? bytes_ : std::nullopt);
  }
  [[nodiscard]] sql::postgres::Param array() && { return std::move(array_).finish(); }

 private:
  static constexpr std::size_t kTypicalBytes = 16;

  void become_array() {
    is_single_ = false;
    array_.reserve(rows_expected_, rows_expected_ * kTypicalBytes);
    for (std::size_t i = 0; i < rows_; ++i) {
      if (number_) {
        array_.add(*number_);
      } else if (bytes_) {
        array_.add(*bytes_);
      } else {
        array_.add_null();
      }
    }
  }

  sql::postgres::ArrayParam array_;
  sql::postgres::Element element_;
  std::size_t rows_expected_;
  // What all `rows_` so far have in common; neither of them: NULL.
  bool is_single_ = true;
  std::size_t rows_ = 0;
  std::optional<std::int64_t> number_;
  std::optional<std::string> bytes_;
};

class Columns {
 public:
  using Element = sql::postgres::Element;

  // The first column is an array in any case: it says how many rows there are.
  Columns(std::initializer_list<Element> elements, std::size_t rows,
          Form form = Form::kArrayOrSingle)
      : form_(form) {
    columns_.reserve(elements.size());
    for (const Element element : elements) {
      columns_.emplace_back(element, columns_.empty() ? Form::kArray : form, rows);
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

  // The single values of all but the first, where the form has them; then the arrays of all.
  std::vector<sql::postgres::Param> finish() && {
    std::vector<sql::postgres::Param> params;
    params.reserve(columns_.size() * 2);
    for (std::size_t i = 1; form_ == Form::kArrayOrSingle && i < columns_.size(); ++i) {
      params.push_back(columns_[i].single());
    }
    for (Column& column : columns_) params.push_back(std::move(column).array());
    return params;
  }

 private:
  Column& next() {
    Column& column = columns_[column_];
    column_ = column_ + 1 == columns_.size() ? 0 : column_ + 1;
    return column;
  }

  Form form_;
  std::vector<Column> columns_;
  std::size_t column_ = 0;
};

}  // namespace recourse::store::postgres

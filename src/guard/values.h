// Values for a statement, and the texts they point to.
#pragma once

#include <cstdint>
#include <deque>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "guard/row.h"
#include "sql/value.h"

namespace recourse::guard {

class Values {
 public:
  Values() = default;
  Values(const Values&) = delete;
  Values& operator=(const Values&) = delete;

  Values& number(std::int64_t value) { return add(value); }
  Values& text(std::string value) { return add(sql::Text{kept_.emplace_back(std::move(value))}); }
  Values& null() { return add(sql::Null{}); }
  Values& id(const RowId& id) {
    if (const auto* value = std::get_if<std::int64_t>(&id)) return number(*value);
    return text(std::get<std::string>(id));
  }

  [[nodiscard]] std::span<const sql::Value> view() const { return values_; }

 private:
  Values& add(sql::Value value) {
    values_.push_back(value);
    return *this;
  }

  std::vector<sql::Value> values_;
  std::deque<std::string> kept_;  // a deque: what is in it never moves
};

}  // namespace recourse::guard

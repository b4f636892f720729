// Values for one or many rows of a statement, and the texts they point to.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/time.h"
#include "base/ulid.h"
#include "sql/value.h"

namespace recourse::store::relational {

class Values {
 public:
  Values() = default;
  // A copy would point into the texts of the original.
  Values(const Values&) = delete;
  Values& operator=(const Values&) = delete;
  Values(Values&&) = default;
  Values& operator=(Values&&) = default;
  ~Values() = default;

  Values& integer(std::int64_t value) { return add(value); }
  Values& time(TimePoint value) { return add(value.time_since_epoch().count()); }
  Values& time(const std::optional<TimePoint>& value) {
    return value ? time(*value) : add(sql::Null{});
  }
  // The caller's text outlives this.
  Values& text(std::string_view value) { return add(sql::Text{value}); }
  Values& bytes(std::string_view value) { return add(sql::Bytes{value}); }
  Values& id(const Ulid& value) {
    return bytes({reinterpret_cast<const char*>(value.bytes.data()), value.bytes.size()});
  }
  // Texts that exist only here.
  Values& kept_text(std::string value) { return text(kept_.emplace_back(std::move(value))); }
  Values& kept_bytes(std::string value) { return bytes(kept_.emplace_back(std::move(value))); }
  Values& null() { return add(sql::Null{}); }

  [[nodiscard]] std::span<const sql::Value> view() const { return values_; }
  [[nodiscard]] bool empty() const { return values_.empty(); }
  void reserve(std::size_t count) { values_.reserve(count); }

 private:
  Values& add(sql::Value value) {
    values_.push_back(value);
    return *this;
  }

  std::vector<sql::Value> values_;
  std::deque<std::string> kept_;  // a deque: what is in it never moves
};

// `(?, ?, ?)` with at least `count` marks, rounded up to a power of two, so that few different
// statements are prepared. fill_list() fills the rest with the last value again.
std::string list_of(std::size_t count);

template <class Item, class Add>
void fill_list(Values& values, std::span<const Item> items, Add add) {
  std::size_t marks = 1;
  while (marks < items.size()) marks *= 2;
  values.reserve(values.view().size() + marks);
  for (std::size_t i = 0; i < marks; ++i)
    add(values, items[i < items.size() ? i : items.size() - 1]);
}

}  // namespace recourse::store::relational

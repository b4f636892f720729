#include "guard/columns.h"

#include <algorithm>

namespace recourse::guard {
namespace {

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

}  // namespace

bool same_name_in_any_case(std::string_view one, std::string_view other) {
  return std::ranges::equal(one, other, {}, lower, lower);
}

bool is_guard_column(std::string_view name) {
  return std::ranges::any_of(kGuardColumns, [&](const GuardColumn& column) {
    return same_name_in_any_case(column.name, name);
  });
}

}  // namespace recourse::guard

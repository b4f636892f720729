#include "app/config/given.h"

#include <algorithm>
#include <cstdlib>

namespace recourse::app {

std::string_view describe(Shape shape) {
  switch (shape) {
    case Shape::kNothing: return "nothing";
    case Shape::kText: return "a single value";
    case Shape::kList: return "a list";
    case Shape::kMap: return "a map of keys";
  }
  std::abort();
}

Entry* Given::find(std::string_view key) {
  const auto found = std::ranges::find(entries, key, &Entry::key);
  return found == entries.end() ? nullptr : &*found;
}

Entry& Given::get_or_add(std::string_view key, const Where& from) {
  if (shape != Shape::kMap) *this = {.shape = Shape::kMap, .where = from};
  if (Entry* entry = find(key)) return *entry;
  entries.push_back({.key = std::string(key), .where = from, .value = {.where = from}});
  return entries.back();
}

}  // namespace recourse::app

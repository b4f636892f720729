// What somebody wrote, before anybody knows what it means: a tree of texts, lists and maps, each
// with the place it came from.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "app/config/where.h"

namespace recourse::app {

enum class Shape : std::uint8_t { kNothing, kText, kList, kMap };

// "text", "a list", ... for error messages.
std::string_view describe(Shape shape);

// A template, because a tree of Givens holds entries that hold Givens.
template <class Value>
struct EntryOf {
  std::string key = {};
  Where where = {};
  Value value = {};
};

struct Given {
  Shape shape = Shape::kNothing;
  Where where = {};
  std::string text = {};
  std::vector<Given> items = {};
  // In their order; no key twice.
  std::vector<EntryOf<Given>> entries = {};

  [[nodiscard]] EntryOf<Given>* find(std::string_view key);
  // Of a map; makes a map of what was something else.
  EntryOf<Given>& get_or_add(std::string_view key, const Where& where);
};

using Entry = EntryOf<Given>;

inline Given given_text(std::string text, Where where) {
  return {.shape = Shape::kText, .where = std::move(where), .text = std::move(text)};
}

}  // namespace recourse::app

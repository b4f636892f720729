#include "guard/layout.h"

#include <algorithm>

namespace recourse::guard {

const Column* find_column(const Layout& layout, std::string_view name) {
  const auto found = std::ranges::find(layout.columns, name, &Column::name);
  return found == layout.columns.end() ? nullptr : &*found;
}

}  // namespace recourse::guard

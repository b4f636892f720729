#include "guard/row.h"

namespace recourse::guard {

std::string to_string(const RowId& id) {
  if (const auto* number = std::get_if<std::int64_t>(&id)) return std::to_string(*number);
  return std::get<std::string>(id);
}

}  // namespace recourse::guard

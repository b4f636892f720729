#include "task/kind_name.h"

namespace recourse::task {

bool fits(std::string_view name, std::string_view kind) {
  if (!name.ends_with('*')) return name == kind;
  name.remove_suffix(1);
  return kind.starts_with(name);
}

}  // namespace recourse::task

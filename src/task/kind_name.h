// Names that settings and node rows use for kinds: a kind itself, or `orders.*` for all that begin
// so.
#pragma once

#include <string_view>

namespace recourse::task {

// Whether the name stands for the kind.
bool fits(std::string_view name, std::string_view kind);

}  // namespace recourse::task

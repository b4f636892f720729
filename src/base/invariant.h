// A broken invariant is neither an error value nor an exception: the process stops before it can
// write what it no longer understands. On in every build.
#pragma once

#include <source_location>
#include <string_view>

namespace recourse {

[[noreturn]] void invariant_broken(std::string_view what, std::source_location where);

// `what` is the sentence that must hold, as it would stand in the documentation.
constexpr void invariant(bool holds, std::string_view what,
                         std::source_location where = std::source_location::current()) {
  if (!holds) [[unlikely]] {
    invariant_broken(what, where);
  }
}

}  // namespace recourse

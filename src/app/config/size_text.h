// Sizes in bytes as people write them: `64MiB`, `256KiB`, `512`.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "base/result.h"

namespace recourse::app {

// A whole number, alone or with B, KiB, MiB or GiB.
Result<std::size_t> parse_size(std::string_view text);
// In the largest unit that leaves a whole number; parses back to the same size.
std::string format_size(std::size_t bytes);

}  // namespace recourse::app

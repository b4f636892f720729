// For tests: a moment to begin at.
#pragma once

#include "base/time.h"

namespace recourse::policy {

inline constexpr TimePoint kStart{std::chrono::seconds(1'000)};

}  // namespace recourse::policy

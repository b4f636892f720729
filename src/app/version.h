#pragma once

#include <string_view>

namespace recourse::app {

// RECOURSE_VERSION comes from the build.
inline constexpr std::string_view kVersion = RECOURSE_VERSION;

}  // namespace recourse::app

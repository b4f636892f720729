// The code of a run that was none: an older message of the key is unfinished.
#pragma once

#include <string_view>

namespace recourse::message {

inline constexpr std::string_view kWaitsForOrder = "WAITS_FOR_ORDER";

}  // namespace recourse::message

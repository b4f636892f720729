// How long the other side asks to be left alone.
#pragma once

#include <optional>
#include <string_view>

#include "base/time.h"

namespace recourse::http {

// Whole seconds or an HTTP date (RFC 9110, 10.2.3), never less than zero nor more than
// kLongestWait. Empty where it is neither.
std::optional<Duration> parse_retry_after(std::string_view text, TimePoint now);

}  // namespace recourse::http

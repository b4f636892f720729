// Moments as other systems write them: `2026-11-16T09:15:00.25Z`.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "base/time.h"

namespace recourse {

// RFC 3339 with any offset, to the microsecond; finer digits are dropped. A leap second is the
// second after it. `field` names the input in the error.
Result<TimePoint> parse_rfc3339(std::string_view field, std::string_view text);

// In UTC, with as many digits as it needs: none, three or six. Years before 0 and after 9999 have
// no spelling and come out as the nearest that has one.
std::string format_rfc3339(TimePoint time);

}  // namespace recourse

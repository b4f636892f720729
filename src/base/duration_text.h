// Durations as people write them: `100ms`, `30s`, `1h30m`. Configuration, command line, error
// messages and logs share this one spelling.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "base/time.h"

namespace recourse {

// One or more whole numbers with a unit (us, ms, s, m, h, d), larger units first. `field` names the
// input in the error. Negative durations are refused: nothing here waits backwards.
Result<Duration> parse_duration(std::string_view field, std::string_view text);

// Whole units, largest first (`1m30s`); parses back to the same duration, but for a minus.
std::string format_duration(Duration duration);

}  // namespace recourse

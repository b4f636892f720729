// Times for people: how far away, and exactly.
#pragma once

#include <string>

#include "base/time.h"

namespace recourse::cli {

// now, in 12s, 3 min ago, in 2 h, 5 days ago; beyond thirty days the date. Rounded down.
std::string relative(TimePoint moment, TimePoint now);

// 340ms, 12s, 3 min 20s, 2 h 5 min, 5 days
std::string length_of(Duration duration);

// 2026-01-31T04:30:00Z, with milliseconds where there are any. "never" for kNever; what no calendar
// of ours has is before 1970 or after 9999.
std::string exact(TimePoint moment);

}  // namespace recourse::cli

// What a table is given when its guard begins, and what its owner is told of it.
#pragma once

#include <stop_token>

#include "base/log.h"
#include "base/result.h"
#include "base/time.h"
#include "guard/table.h"

namespace recourse::guard {

// The columns, and the indexes too where they are best added before anybody is at work.
Result<> prepare(GuardedTable& table, Duration within, Log& log);

// Those that cannot be added are named in a warning: the guard works without them, and reads more.
// kUnavailable: it may be tried again.
Result<> prepare_indexes(GuardedTable& table, Duration within, const std::stop_token& stop,
                         Log& log);

}  // namespace recourse::guard

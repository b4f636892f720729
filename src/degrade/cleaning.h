// Completed records are deleted by the clock: a schedule for each kind, so that of many nodes one
// does it, and a handler for all of them.
#pragma once

#include <string_view>

#include "base/clock.h"
#include "base/log.h"
#include "base/result.h"
#include "engine/core/schedule_table.h"
#include "engine/handler_table.h"
#include "store/opened.h"

namespace recourse::degrade {

// Weekly, of what ended more than thirty days ago.
inline constexpr std::string_view kCleanWhen = "0 0 * * sun";
inline constexpr Duration kCleanAfter = std::chrono::hours(24 * 30);

// Its tasks name in their payload the kind to clean up after.
inline constexpr std::string_view kCleanKind = "recourse.degrade.clean";

// All of them must outlive it.
engine::Handler cleaning_handler(store::OpenedStore& opened, const Clock& clock, Log& log,
                                 Duration after);
// An occurrence that no node saw is made up for. kInvalid says what is wrong with `when`.
Result<engine::Schedule> cleaning_schedule(const task::Kind& kind, std::string_view when);

}  // namespace recourse::degrade

// Records that nobody needs any more are deleted by the clock (MSG-10): a schedule for each kind,
// so that of many nodes one does it, and a handler for all of them.
#pragma once

#include <string_view>

#include "base/clock.h"
#include "base/log.h"
#include "base/result.h"
#include "engine/core/schedule_table.h"
#include "engine/handler_table.h"
#include "message/records.h"
#include "store/opened.h"

namespace recourse::message {

inline constexpr std::string_view kCleanWhen = "30 3 * * *";

// Its tasks name in their payload the kind to clean up after.
inline constexpr std::string_view kCleanKind = "recourse.message.clean";

struct Keeping {
  Duration processed = kKeepProcessed;
  Duration ignored = kKeepIgnored;
};

// All but the times must outlive it.
engine::Handler cleaning_handler(store::OpenedStore& opened, const Clock& clock, Log& log,
                                 const Keeping& keeping);
// An occurrence that no node saw is made up for. kInvalid says what is wrong with `when`.
Result<engine::Schedule> cleaning_schedule(const task::Kind& kind, std::string_view when);

}  // namespace recourse::message

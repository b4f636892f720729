// A guard's handlers behind URLs: signed POSTs of {"guard", "table", "id"}.
//
// `check` answers 2xx with {"success": true} or false. `handle` answers any 2xx once it has tried.
// Anything else, or no answer in the run's time, fails the run: nobody knows then how the row
// stands, and the next run asks first.
#pragma once

#include <boost/json.hpp>

#include "app/config/guard_config.h"
#include "base/clock.h"
#include "base/result.h"
#include "guard/row_handlers.h"
#include "guard/table.h"
#include "http/client.h"

namespace recourse::app {

// What can be known of it without calling anybody.
Result<> check_guard_calls(const GuardConfig& config);

// All of them outlive the handlers. Without `check` the row's own status says whether it is well,
// and what `handle` answers: {"success": true}.
Result<guard::RowHandlers> guard_calls(const GuardConfig& config, guard::GuardedTable& table,
                                       http::Client& client, const Clock& clock);

}  // namespace recourse::app

// Until a task has ended, well or badly.
#pragma once

#include <optional>
#include <string>

#include "base/time.h"
#include "cli/session.h"

namespace recourse::cli {

// Looks again and again, less often as time goes by, and through a server's restart. Says how it
// ended; only success is kOk. `within` is over: kPartlyDone, and the task goes on.
ExitCode wait_for_end(Session& session, const std::string& id, std::optional<Duration> within);

}  // namespace recourse::cli

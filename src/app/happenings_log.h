// What becomes of tasks, as log lines. What happens to the node, it logs itself.
#pragma once

#include "base/log.h"
#include "engine/core/happening.h"

namespace recourse::app {

void log_happening(Log& log, const engine::Happening& happening);

}  // namespace recourse::app

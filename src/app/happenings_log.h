// What the engine tells, as log lines.
#pragma once

#include "base/log.h"
#include "engine/core/happening.h"

namespace recourse::app {

void log_happening(Log& log, const engine::Happening& happening);

}  // namespace recourse::app

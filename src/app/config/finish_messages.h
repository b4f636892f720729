// What sources of messages mean for their kinds, and what is wrong with them as a whole.
#pragma once

#include "app/config/config.h"
#include "app/config/where.h"

namespace recourse::app {

// Before the kinds are finished: a kind that a source names is a message kind from here on, and
// message kinds get the door's presets where they do not say otherwise.
void finish_messages(Config& config, const Where& start, Problems& problems);

}  // namespace recourse::app

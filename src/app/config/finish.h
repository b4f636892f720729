// What can only be said once all keys are in their places: what follows from others, and what does
// not fit together.
#pragma once

#include "app/config/config.h"
#include "app/config/where.h"

namespace recourse::app {

// `start` is where a problem is that no single key makes.
void finish(Config& config, const Where& start, Problems& problems);

}  // namespace recourse::app

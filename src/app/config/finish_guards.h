// What follows for guards from what was given, and what is wrong with it as a whole.
#pragma once

#include "app/config/config.h"
#include "app/config/where.h"

namespace recourse::app {

// After the store's URL is known.
void finish_guards(Config& config, const Where& start, Problems& problems);

}  // namespace recourse::app

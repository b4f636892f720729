// Runs many seeds on several threads and sums up.
#pragma once

#include "sim/options.h"

namespace recourse::sim {

// The process's exit code.
int run_seeds(const Options& options);

}  // namespace recourse::sim

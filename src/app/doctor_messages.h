// What the doctor says of sources of messages.
#pragma once

#include "app/config/config.h"
#include "app/finding.h"

namespace recourse::app {

// Connects to each of them, and takes nothing.
void examine_sources(const Config& config, Findings& findings);

}  // namespace recourse::app

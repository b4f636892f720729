// The doctor's look at each kind: is what it calls there?
#pragma once

#include "app/config/config.h"
#include "app/finding.h"

namespace recourse::app {

void examine_kinds(const Config& config, const Environment& environment, Findings& findings);

}  // namespace recourse::app

// The doctor's look at each guard: is its table there, and who mends its rows?
#pragma once

#include "app/config/config.h"
#include "app/finding.h"

namespace recourse::app {

void examine_guards(const Config& config, Findings& findings);

}  // namespace recourse::app

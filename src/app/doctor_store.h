// The doctor's look at the store: is it there, does it have our schema, is a commit safe in it? It
// only reads: nothing is created, nothing is migrated.
#pragma once

#include "app/config/config.h"
#include "app/finding.h"
#include "base/clock.h"

namespace recourse::app {

void examine_store(const Config& config, const Clock& clock, Findings& findings);

}  // namespace recourse::app

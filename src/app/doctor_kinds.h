// The doctor's look at each kind: is what it calls there?
#pragma once

#include <string>

#include "app/config/config.h"
#include "app/finding.h"

namespace recourse::app {

// Whether anybody answers there; `key` is what to correct where nobody does.
void examine_url(const std::string& about, const std::string& key, const std::string& url,
                 Findings& findings);

void examine_kinds(const Config& config, const Environment& environment, Findings& findings);

}  // namespace recourse::app

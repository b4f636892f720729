// The doctor's look at a running server, from outside.
#pragma once

#include <string>

#include "app/finding.h"
#include "cli/session.h"

namespace recourse::app {

void examine_server(cli::Session& session, Findings& findings);

}  // namespace recourse::app

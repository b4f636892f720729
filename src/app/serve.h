// `recourse serve`: runs until it is told to stop.
#pragma once

#include "app/configured.h"

namespace recourse::app {

// The program's exit code.
int serve(const ConfigFlags& flags);

}  // namespace recourse::app

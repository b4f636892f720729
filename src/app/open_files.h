// How many files and connections the process may have open at once.
#pragma once

#include "base/log.h"

namespace recourse::app {

// A shell and systemd give 1,024, for the sake of programs that select() over them, and allow more
// to those who ask. Takes what is allowed; the log says what it is now.
void raise_open_files(Log& log);

}  // namespace recourse::app

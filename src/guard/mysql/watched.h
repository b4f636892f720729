// A statement that changes a table, called off when it makes others wait, or on a stop.
#pragma once

#include <string>

#include "base/result.h"
#include "guard/dialect.h"

namespace recourse::guard::mysql {

// kExhausted: it stood in the queue for the whole table for longer than the application can bear,
// or a stop came, and it was ended by its watcher.
Result<> run_watched(sql::Connection& connection, const std::string& statement,
                     const Surroundings& around);

}  // namespace recourse::guard::mysql

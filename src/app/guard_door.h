// The guard door of a server: its tables opened, its handlers bound, from the configuration.
#pragma once

#include <memory>
#include <string>

#include "app/config/config.h"
#include "base/result.h"
#include "guard/door.h"
#include "http/client.h"

namespace recourse::app {

// What can be known without opening anything; the error names the guard.
Result<> check_guards(const Config& config);

// Before the node starts: adds what its tables miss, and registers the kinds. Empty where the
// configuration has no guards. The client and the parts outlive it.
Result<std::unique_ptr<guard::Door>> open_guard_door(const Config& config,
                                                     const guard::GuardParts& parts,
                                                     http::Client& client);

}  // namespace recourse::app

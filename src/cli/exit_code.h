// What the program's end says to a script. The numbers are a promise: they never change.
#pragma once

#include <cstdint>

#include "base/result.h"

namespace recourse::cli {

enum class ExitCode : std::uint8_t {
  kOk = 0,
  kFailure = 1,
  kUsage = 2,       // asked wrongly: correct the command
  kNotFound = 3,    // there is no such thing
  kConflict = 4,    // not in the state it is in
  kAuth = 5,        // no token, or one that may not do this
  kDown = 6,        // the server, its store or the network: try again later
  kPartlyDone = 7,  // some of many; the output says which
};

ExitCode exit_code_of(ErrorCode code);
// Of an answer of the API.
ExitCode exit_code_of_status(int http_status);

}  // namespace recourse::cli

// Can this machine talk to that one? Names are looked up and a connection is made; nothing is sent.
#pragma once

#include <string>

#include "base/result.h"
#include "base/time.h"

namespace recourse::app {

// `origin` as http::destination_of gives it: https://example.org:8443. kNotFound where the name is
// not known, kUnavailable where nobody answers.
Result<> connect_to(const std::string& origin, Duration limit);

}  // namespace recourse::app

// One spelling for each JSON value (RFC 8785), so that two requests that mean the same have the
// same hash, whoever wrote them down. Pure.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace recourse::create {

// Members sorted by their UTF-16 code units, no white space, numbers as JavaScript writes them.
// kInvalid: it is no JSON, has a member twice, or a number that no double holds.
Result<std::string> canonical_json(std::string_view json);

// The SHA-256 of that, in hex: what stands for a request under its idempotency key.
Result<std::string> request_hash(std::string_view json);

}  // namespace recourse::create

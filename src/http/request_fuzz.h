// Requests that were right once, spoiled at random from a seed, sent to a real server. Whatever
// comes, it must answer in HTTP or close, and go on serving others.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/rng.h"

namespace recourse::http {

// One or more requests, mutated.
std::string spoiled_request(Rng& rng);

// Sends `count` of them, each on a connection of its own. What went wrong, with the bytes that did
// it; empty when nothing did.
std::optional<std::string> fuzz_server(std::uint16_t port, int count, std::uint64_t seed);

}  // namespace recourse::http

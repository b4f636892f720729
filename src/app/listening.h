// Where a server can be reached, and under which names.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "app/config/config.h"

namespace recourse::app {

bool listens_on_loopback(std::string_view listen);
std::string url_of(const Config& config, std::uint16_t port);
// Host headers to answer; empty: all. Where no token is asked for, a page of somebody else's could
// point its own name at us, so only our own names count.
std::vector<std::string> hosts_of(const Config& config);

}  // namespace recourse::app

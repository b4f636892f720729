// `127.0.0.1:7070`, `localhost:7070`, `[::1]:7070`, as text. Pure.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"

namespace recourse::http {

struct ListenAddress {
  std::string host;  // an address or a name, without brackets
  std::uint16_t port = 0;
};

Result<ListenAddress> parse_listen_address(std::string_view text);

}  // namespace recourse::http

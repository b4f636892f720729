// Why the transport will not serve a request, before the service has seen it.
#pragma once

#include <string>
#include <string_view>

namespace recourse::http {

struct Rejection {
  int status = 400;
  std::string detail = {};  // what the client should do
  std::string allow = {};   // 405 only: the methods there are
};

// The request itself is wrong.
inline Rejection bad(std::string_view detail) {
  return {.status = 400, .detail = std::string(detail)};
}

}  // namespace recourse::http

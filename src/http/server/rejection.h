// Why the transport will not serve a request, before the service has seen it.
#pragma once

#include <string>

namespace recourse::http {

struct Rejection {
  int status = 400;
  std::string detail = {};  // what the client should do
  std::string allow = {};   // 405 only: the methods there are
};

}  // namespace recourse::http

// What a call needs to know of its URL. The rest (password, path, query) may hold secrets, and goes
// to the other side only.
#pragma once

#include <string>

#include "base/result.h"

namespace recourse::http {

struct Destination {
  // `https://example.org:8443`: fit for messages, and one for each connection that can be shared.
  std::string origin;
  // Its host is a name, not an address.
  bool has_name = false;
};

// http and https only. The error does not quote the URL.
Result<Destination> destination_of(const std::string& url);

}  // namespace recourse::http

// What every answer has in common, whoever makes it.
#pragma once

#include <exception>
#include <utility>

#include "api/desk.h"
#include "base/log.h"
#include "http/message.h"

namespace recourse::api {

// No cache keeps it, and no browser guesses what it is.
inline http::Response guarded(http::Response response) {
  response.headers.set("Cache-Control", "no-store");
  response.headers.set("X-Content-Type-Options", "nosniff");
  return response;
}

// What is thrown is a bug of ours: the caller is told so, and the log what.
template <class Make>
http::Response answer_calmly(Log& log, Make&& make) {
  try {
    return guarded(std::forward<Make>(make)());
  } catch (const std::exception& error) {
    log.error("request_threw", {{"what", error.what()}});
    return guarded(refuse(500, "this is a bug of ours; the log says more"));
  }
}

}  // namespace recourse::api

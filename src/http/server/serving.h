// What all connections of one server share. It outlives them.
#pragma once

#include <boost/asio/ssl/context.hpp>
#include <optional>

#include "base/clock.h"
#include "base/log.h"
#include "http/server.h"

namespace recourse::http {

struct Serving {
  ServerSettings settings;
  Service service;
  Refusal refusal;
  Log& log;
  std::optional<boost::asio::ssl::context> tls = std::nullopt;
  SystemClock clock = {};
};

}  // namespace recourse::http

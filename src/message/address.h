// Where a broker is and who asks, out of a source's URL.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "message/settings.h"

namespace recourse::message {

struct Endpoint {
  std::string host;
  std::uint16_t port = 0;
};

struct Address {
  BrokerKind broker = BrokerKind::kRabbitmq;
  bool tls = false;
  std::string user;
  std::string password;
  // Several for Kafka, whose URL may have a list of them; one elsewhere.
  std::vector<Endpoint> endpoints;
  // RabbitMQ's virtual host, Redis' database; empty: the default.
  std::string path;
};

// The error shows the right forms and nothing of what was given: a URL that cannot be read may have
// its password anywhere.
Result<Address> parse_address(const std::string& url);

// For messages: host:port,...
std::string where(const Address& address);

}  // namespace recourse::message

// Where calls go, with the secrets that they need.
#pragma once

#include <string>
#include <vector>

#include "app/config/kind_config.h"
#include "base/result.h"
#include "http/message.h"
#include "http/webhook_signature.h"

namespace recourse::app {

struct Target {
  std::string url;
  http::Headers headers;
  // Each signs; none: unsigned.
  std::vector<http::WebhookKey> keys;
};

// The error says which key is wrong, and nothing of its value.
Result<Target> resolve_target(const HttpTarget& configured);

}  // namespace recourse::app

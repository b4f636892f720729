// Notices as JSON, to any URL. Signed by the Standard Webhooks scheme under the notice's own id, so
// that a receiver can tell a message that came twice; where asked, in a CloudEvents envelope.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/clock.h"
#include "http/client.h"
#include "http/webhook_signature.h"
#include "notify/channels/endpoint.h"

namespace recourse::notify {

struct WebhookSettings {
  Endpoint endpoint = {};
  // Such as Authorization.
  http::Headers headers = {};
  // Each signs; none: unsigned.
  std::vector<http::WebhookKey> keys = {};
  // CloudEvents 1.0, structured mode, instead of {type, timestamp, data}.
  bool cloud_events = false;
  // The envelope's `source`: where these events come from, as a URI.
  std::string source = "/recourse";
};

Result<> validate(const WebhookSettings& settings);

// `recourse.notice.dead_letter`: what receivers tell messages apart by.
std::string webhook_type(Event event);
std::string webhook_body(const Notice& notice, const WebhookSettings& settings);

// The client and the clock must outlive it.
Result<std::shared_ptr<Channel>> make_webhook_channel(std::string name, WebhookSettings settings,
                                                      http::Client& client, const Clock& clock);

}  // namespace recourse::notify

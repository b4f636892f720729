// Slack's incoming webhooks: Block Kit, with a text for notifications and old clients. The blocks
// hold plain text, in which Slack looks for no markup.
#pragma once

#include <boost/json/object.hpp>
#include <memory>
#include <string>

#include "notify/channels/chat_channel.h"

namespace recourse::notify {

boost::json::object slack_message(const Notice& notice);

Result<std::shared_ptr<Channel>> make_slack_channel(std::string name, Endpoint endpoint,
                                                    http::Client& client, const Clock& clock);

}  // namespace recourse::notify

// DingTalk's custom robots: a markdown message, signed in the query where the robot asks for it.
#pragma once

#include <boost/json/object.hpp>
#include <memory>
#include <string>

#include "notify/channels/chat_channel.h"

namespace recourse::notify {

boost::json::object dingtalk_message(const Notice& notice);
// `timestamp=...&sign=...`; empty without a secret.
std::string dingtalk_signature(const std::string& secret, TimePoint now);

Result<std::shared_ptr<Channel>> make_dingtalk_channel(std::string name, ChatSettings settings,
                                                       http::Client& client, const Clock& clock);

}  // namespace recourse::notify

// Feishu's and Lark's custom robots: an interactive card whose texts are plain, signed where the
// robot asks for it.
#pragma once

#include <boost/json/object.hpp>
#include <memory>
#include <string>

#include "notify/channels/chat_channel.h"

namespace recourse::notify {

// Signed where there is a secret.
boost::json::object feishu_message(const Notice& notice, const std::string& secret, TimePoint now);

Result<std::shared_ptr<Channel>> make_feishu_channel(std::string name, ChatSettings settings,
                                                     http::Client& client, const Clock& clock);

}  // namespace recourse::notify

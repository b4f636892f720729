// WeCom's group robots: a markdown message of at most 4,096 bytes.
#pragma once

#include <boost/json/object.hpp>
#include <cstddef>
#include <memory>
#include <string>

#include "notify/channels/chat_channel.h"

namespace recourse::notify {

inline constexpr std::size_t kWecomBytesMax = 4'096;

boost::json::object wecom_message(const Notice& notice);

Result<std::shared_ptr<Channel>> make_wecom_channel(std::string name, Endpoint endpoint,
                                                    http::Client& client, const Clock& clock);

}  // namespace recourse::notify

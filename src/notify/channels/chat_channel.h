// Robots of group chats: a JSON message to a URL that is itself the secret, and an answer that says
// how it went. Each vendor has a file that knows its format; here is what they share.
//
// Settings are checked by `make_...`, whose error names the vendor's field and quotes no secret.
// The client and the clock must outlive the channel.
#pragma once

#include <boost/json/object.hpp>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "http/client.h"
#include "notify/channels/endpoint.h"

namespace recourse::notify {

struct ChatSettings {
  Endpoint endpoint = {};
  // Where the robot was told to ask for signatures: Feishu and DingTalk.
  std::string secret = {};
};

struct ChatFormat {
  std::string vendor;
  // The body; `now` is for signatures.
  std::function<boost::json::object(const Notice&, TimePoint now)> message;
  // What the URL gets appended; empty where nothing is.
  std::function<std::string(TimePoint now)> query = nullptr;
  // Whether a 200 means that it was taken.
  std::function<Result<>(const std::string& body)> judge;
};

Result<std::shared_ptr<Channel>> make_chat_channel(std::string name, Endpoint endpoint,
                                                   ChatFormat format, http::Client& client,
                                                   const Clock& clock);

// `{"errcode": 0, "errmsg": "ok"}`, as all three Chinese vendors answer, under names of their own.
// Of several names the first that is there counts.
struct CodedAnswer {
  std::vector<std::string_view> code;
  std::vector<std::string_view> message;
  // Codes that may go better later.
  std::vector<std::int64_t> passing;
};
Result<> judge_coded_answer(const std::string& body, const CodedAnswer& format);

}  // namespace recourse::notify

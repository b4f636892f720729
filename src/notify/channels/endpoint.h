// What all channels that POST somewhere have in common.
#pragma once

#include <stop_token>
#include <string>
#include <string_view>

#include "base/result.h"
#include "base/time.h"
#include "http/client.h"
#include "notify/channel.h"

namespace recourse::notify {

struct Endpoint {
  // Of chats it is a secret.
  std::string url = {};
  Duration timeout = kSendWithin;
  http::Reach reach = {};
  // PEM of authorities to trust instead of the system's.
  std::string authorities = {};
};

// `subject` goes before every field. The error does not quote the URL.
Result<> validate(std::string_view subject, const Endpoint& endpoint);

// Waits for the answer; only one with 2xx is a value. An answer that may change with time (429,
// 5xx) and no answer at all are kUnavailable, a refusal is kInvalid. Ends soon once `stop` is asked
// for.
Result<http::Answer> post(http::Client& client, const Endpoint& endpoint, http::Call call,
                          const std::stop_token& stop);

// What somebody answered, fit for an error: short, on one line, masked.
std::string quoted_answer(std::string_view body);

}  // namespace recourse::notify

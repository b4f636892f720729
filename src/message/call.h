// One run of a handler, as the door makes it: by the consumer at first, by the engine at a retry.
#pragma once

#include <functional>
#include <stop_token>
#include <string>

#include "message/message.h"
#include "store/guest.h"
#include "store/inbox.h"

namespace recourse::message {

// Refers to what its caller has: valid while the handler runs.
struct Call {
  const Message& message;
  const std::string& group;
  const store::MessageKey& key;
  // 1 at the first run.
  int attempt = 1;
  int max_retries = 0;
  std::stop_token stop = {};
  // Where the run shares a transaction.
  store::Guest* guest = nullptr;
  // What it says that it is about, in case it fails.
  std::string about = {};
};

// Answers the business id; throws what went wrong.
using Run = std::function<std::string(Call&)>;

}  // namespace recourse::message

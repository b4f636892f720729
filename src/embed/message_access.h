// How the library makes what its users see of a message.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "message/call.h"
#include "recourse/messages.h"

namespace recourse {

struct MessageContext::Impl {
  message::Call& call;
  // Made where somebody asks for them.
  mutable std::optional<std::vector<MessageHeader>> headers = std::nullopt;
  mutable std::string idempotency_key = {};
};

namespace detail {

class MessageAccess {
 public:
  using Seen = MessageContext::Impl;

  // What is seen must outlive it.
  static MessageContext context(Seen& impl) { return MessageContext(impl); }
  static CreateTransaction transaction(store::Guest& guest, Engine::Impl& engine);
};

}  // namespace detail
}  // namespace recourse

#include <fmt/format.h>

#include "embed/message_access.h"

namespace recourse {

const std::string& MessageContext::id() const { return impl_->call.message.id; }
const std::string& MessageContext::topic() const { return impl_->call.message.topic; }
const std::string& MessageContext::tags() const { return impl_->call.message.tags; }
const std::string& MessageContext::key() const { return impl_->call.message.key; }
const std::string& MessageContext::source() const { return impl_->call.message.source; }
const std::string& MessageContext::group() const { return impl_->call.group; }
const std::string& MessageContext::body() const { return impl_->call.message.body; }
const std::optional<TimePoint>& MessageContext::published_at() const {
  return impl_->call.message.published_at;
}
int MessageContext::attempt() const { return impl_->call.attempt; }
int MessageContext::max_retries() const { return impl_->call.max_retries; }
std::stop_token MessageContext::stop_token() const { return impl_->call.stop; }
void MessageContext::about(std::string_view business_id) const { impl_->call.about = business_id; }

const std::vector<MessageHeader>& MessageContext::headers() const {
  if (!impl_->headers) {
    impl_->headers.emplace();
    for (const message::Header& header : impl_->call.message.headers) {
      impl_->headers->push_back({header.name, header.value});
    }
  }
  return *impl_->headers;
}

std::string MessageContext::header(std::string_view name) const {
  return message::header_of(impl_->call.message, name);
}

const std::string& MessageContext::idempotency_key() const {
  if (impl_->idempotency_key.empty()) {
    for (const char byte : impl_->call.key.value) {
      impl_->idempotency_key += fmt::format("{:02x}", static_cast<unsigned char>(byte));
    }
  }
  return impl_->idempotency_key;
}

std::string_view to_string(MessageStatus status) {
  switch (status) {
    case MessageStatus::kRetrying: return "RETRYING";
    case MessageStatus::kPending: return "PENDING";
    case MessageStatus::kProcessed: return "PROCESSED";
    case MessageStatus::kIgnored: return "IGNORED";
  }
  std::abort();
}

}  // namespace recourse

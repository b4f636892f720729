// Signatures by the Standard Webhooks scheme: whoever shares a secret with us can tell that a
// request is ours, is whole, and is not an old one sent again.
//
// Signed is `ID.TIMESTAMP.BODY` by HMAC-SHA256; the header has one `v1,BASE64` for each key, so
// that a secret can be replaced without a moment in which either side refuses the other.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"
#include "base/time.h"

namespace recourse::http {

inline constexpr std::string_view kWebhookId = "webhook-id";
inline constexpr std::string_view kWebhookTimestamp = "webhook-timestamp";
inline constexpr std::string_view kWebhookSignature = "webhook-signature";

// What the scheme asks for at least.
inline constexpr std::size_t kWebhookSecretBytesMin = 24;

class WebhookKey {
 public:
  // `whsec_` and base64, or the secret's own bytes. The error does not quote it.
  static Result<WebhookKey> parse(std::string_view secret);

  [[nodiscard]] std::string_view bytes() const { return bytes_; }

 private:
  explicit WebhookKey(std::string bytes) : bytes_(std::move(bytes)) {}

  std::string bytes_;
};

// As the headers have it.
struct WebhookParts {
  std::string_view id;
  std::string_view timestamp;  // whole seconds since 1970
  std::string_view body;
};

std::string webhook_timestamp(TimePoint now);

// The signature header: one for each key, with spaces between.
std::string sign_webhook(std::span<const WebhookKey> keys, const WebhookParts& parts);

// Any of the header's signatures by any of the keys will do. Compared in constant time. The
// timestamp may be off by `tolerance`, either way.
Result<> verify_webhook(std::span<const WebhookKey> keys, const WebhookParts& parts,
                        std::string_view signatures, TimePoint now,
                        Duration tolerance = std::chrono::minutes(5));

}  // namespace recourse::http

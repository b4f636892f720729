#include "http/webhook_signature.h"

#include <fmt/format.h>
#include <openssl/crypto.h>

#include <charconv>
#include <cstdint>
#include <optional>

#include "http/base64.h"
#include "http/hmac.h"

namespace recourse::http {
namespace {

constexpr std::string_view kSecretPrefix = "whsec_";
constexpr std::string_view kVersion = "v1,";

std::string sign_with(const WebhookKey& key, const WebhookParts& parts) {
  return to_base64(
      hmac_sha256(key.bytes(), fmt::format("{}.{}.{}", parts.id, parts.timestamp, parts.body)));
}

bool is_same(std::string_view a, std::string_view b) {
  return a.size() == b.size() && CRYPTO_memcmp(a.data(), b.data(), a.size()) == 0;
}

Result<> check_time(std::string_view timestamp, TimePoint now, Duration tolerance) {
  std::int64_t seconds = 0;
  const auto* const end = timestamp.data() + timestamp.size();
  const auto read = std::from_chars(timestamp.data(), end, seconds);
  constexpr std::int64_t kYear9999 = 253'402'300'799;
  if (read.ec != std::errc() || read.ptr != end || seconds < 0 || seconds > kYear9999) {
    return fail(ErrorCode::kInvalid, "webhook-timestamp must be whole seconds since 1970");
  }
  const Duration off = now - TimePoint(std::chrono::seconds(seconds));
  if (off > tolerance || off < -tolerance) {
    return fail(ErrorCode::kInvalid,
                "webhook-timestamp is too far from now: an old request sent again, or a clock that "
                "is wrong");
  }
  return {};
}

}  // namespace

Result<WebhookKey> WebhookKey::parse(std::string_view secret) {
  std::string bytes(secret);
  if (secret.starts_with(kSecretPrefix)) {
    auto decoded = from_base64(secret.substr(kSecretPrefix.size()));
    if (!decoded) {
      return fail(ErrorCode::kInvalid,
                  "a webhook secret that begins with whsec_ must go on in "
                  "base64, with its padding");
    }
    bytes = *std::move(decoded);
  }
  if (bytes.size() < kWebhookSecretBytesMin) {
    return fail(ErrorCode::kInvalid,
                fmt::format("a webhook secret must have at least {} bytes, not {}; make one with "
                            "echo whsec_$(openssl rand -base64 32)",
                            kWebhookSecretBytesMin, bytes.size()));
  }
  return WebhookKey(std::move(bytes));
}

std::string webhook_timestamp(TimePoint now) {
  return std::to_string(std::chrono::floor<std::chrono::seconds>(now).time_since_epoch().count());
}

std::string sign_webhook(std::span<const WebhookKey> keys, const WebhookParts& parts) {
  std::string signatures;
  for (const WebhookKey& key : keys) {
    if (!signatures.empty()) signatures += ' ';
    signatures += kVersion;
    signatures += sign_with(key, parts);
  }
  return signatures;
}

Result<> verify_webhook(std::span<const WebhookKey> keys, const WebhookParts& parts,
                        std::string_view signatures, TimePoint now, Duration tolerance) {
  if (Result<> timely = check_time(parts.timestamp, now, tolerance); !timely) return timely;
  bool good = false;
  for (const WebhookKey& key : keys) {
    const std::string ours = sign_with(key, parts);
    std::string_view rest = signatures;
    // All are compared, so that the time does not tell which one fits.
    while (!rest.empty()) {
      const std::string_view one = rest.substr(0, rest.find(' '));
      rest.remove_prefix(std::min(rest.size(), one.size() + 1));
      if (one.starts_with(kVersion) && is_same(one.substr(kVersion.size()), ours)) good = true;
    }
  }
  if (good) return {};
  return fail(ErrorCode::kInvalid, "no signature in webhook-signature is by a key that is known");
}

}  // namespace recourse::http

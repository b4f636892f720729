#include "app/target.h"

#include <fmt/format.h>

#include <utility>

#include "http/curl_url.h"

namespace recourse::app {

Result<Target> resolve_target(const HttpTarget& configured) {
  Target target{.url = configured.url, .headers = {}, .keys = {}};
  if (!target.url.empty()) {
    const auto destination = http::destination_of(target.url);
    if (!destination) {
      return fail(ErrorCode::kInvalid, fmt::format("url: {}", destination.error().message));
    }
  }
  for (const auto& [name, value] : configured.headers) target.headers.add(name, value);
  for (const auto& [name, value] : configured.secret_headers) {
    target.headers.add(name, value.reveal());
  }
  for (const Secret& secret : configured.signing) {
    auto key = http::WebhookKey::parse(secret.reveal());
    if (!key) {
      return fail(ErrorCode::kInvalid,
                  fmt::format("signing: {}: {}", secret.reference(), key.error().message));
    }
    target.keys.push_back(*std::move(key));
  }
  return target;
}

}  // namespace recourse::app

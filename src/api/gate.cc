#include "api/gate.h"

#include <algorithm>

#include "base/text.h"

namespace recourse::api {
namespace {

constexpr std::size_t kPeersMax = 10'000;
constexpr policy::RateSettings kFailures{.per_second = 0.2, .burst = 20};
constexpr std::string_view kBearer = "Bearer ";

bool is_safe(http::Method method) {
  return method == http::Method::kGet || method == http::Method::kHead ||
         method == http::Method::kOptions;
}

std::string_view without_port(std::string_view host) {
  if (host.starts_with('[')) return host.substr(0, host.find(']') + 1);
  return host.substr(0, host.find(':'));
}

std::optional<std::string_view> token_of(const http::Request& request) {
  const auto header = request.headers.find("Authorization");
  if (!header || !http::is_same_name(header->substr(0, kBearer.size()), kBearer)) {
    return std::nullopt;
  }
  return header->substr(kBearer.size());
}

bool is_own_origin(const http::Request& request, std::string_view origin) {
  const std::size_t scheme = origin.find("://");
  return scheme != std::string_view::npos &&
         origin.substr(scheme + 3) == request.headers.find("Host").value_or("");
}

Problem unknown(std::string detail) {
  return {.status = 401,
          .detail = std::move(detail),
          .headers = {{"WWW-Authenticate", "Bearer realm=\"recourse\""}}};
}

}  // namespace

std::optional<Problem> Gate::refuse_early(const http::Request& request) const {
  const std::string_view host = without_port(request.headers.find("Host").value_or(""));
  if (!settings_.hosts.empty() &&
      std::ranges::find(settings_.hosts, host) == settings_.hosts.end()) {
    return Problem{.status = 421,
                   .detail = "this server does not answer to the name " + shown(host) +
                             "; add it to server.trusted-hosts in the configuration"};
  }
  const auto site = request.headers.find("Sec-Fetch-Site");
  if (!is_safe(request.method) && site && *site != "same-origin" && *site != "none") {
    return Problem{.status = 403, .detail = "changes are not taken from other sites' pages"};
  }
  // Browsers that do not say the above yet say this.
  const auto origin = request.headers.find("Origin");
  if (!is_safe(request.method) && !site && origin && !is_own_origin(request, *origin)) {
    return Problem{.status = 403, .detail = "changes are not taken from other sites' pages"};
  }
  return std::nullopt;
}

bool Gate::may_fail_again(const std::string& peer) {
  MutexLock lock(mutex_);
  if (failures_.size() >= kPeersMax) failures_.clear();
  const TimePoint now{clock_.since_boot().time_since_epoch()};
  return failures_.try_emplace(peer, kFailures, now).first->second.try_take(now);
}

std::variant<Identity, Problem> Gate::judge(const http::Request& request,
                                            const std::optional<Identity>& token, Role needed) {
  if (!token) {
    if (may_fail_again(request.peer)) {
      return unknown("this token is not known, was taken away or has expired");
    }
    return Problem{.status = 429,
                   .detail = "too many wrong tokens from this address; wait a little",
                   .retry_after = std::chrono::seconds(5)};
  }
  if (token->role >= needed) return *token;
  if (token->role == Role::kNone) return unknown("show a token: Authorization: Bearer rcs_...");
  return Problem{.status = 403,
                 .detail = "this needs the role " + std::string(to_string(needed)) +
                           "; your token has " + std::string(to_string(token->role))};
}

std::optional<std::variant<Identity, Problem>> Gate::identify_at_once(const http::Request& request,
                                                                      Role needed) {
  // Health is told to anybody, whatever they show, and without the store.
  if (needed == Role::kNone) return Identity{};
  const auto token = token_of(request);
  if (!token) {
    const Identity local{.name = "local", .role = Role::kAdmin};
    return judge(request, settings_.token_required ? Identity{} : local, needed);
  }
  const auto known = tokens_.recall(*token);
  if (!known) return std::nullopt;
  return judge(request, *known, needed);
}

std::variant<Identity, Problem> Gate::identify(const http::Request& request, Role needed) {
  if (auto known = identify_at_once(request, needed)) return *std::move(known);
  const auto identity = tokens_.identify(*token_of(request));
  if (!identity) return problem_of(identity.error());
  return judge(request, *identity, needed);
}

}  // namespace recourse::api

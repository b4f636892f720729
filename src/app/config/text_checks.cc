#include "app/config/text_checks.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>

#include "base/text.h"
#include "base/time_zone.h"
#include "task/record.h"

namespace recourse::app {
namespace {

std::string lower(std::string_view text) {
  std::string lowered(text);
  for (char& c : lowered) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return lowered;
}

bool is_token(std::string_view text) {
  const auto is_token_character = [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 ||
           std::string_view("!#$%&'*+-.^_`|~").find(c) != std::string_view::npos;
  };
  return !text.empty() && std::ranges::all_of(text, is_token_character);
}

template <std::size_t N>
bool is_any_of(const std::array<std::string_view, N>& words, std::string_view word) {
  return std::ranges::find(words, word) != words.end();
}

}  // namespace

HostPort split_listen(std::string_view text) {
  const std::size_t colon = text.rfind(':');
  if (colon == std::string_view::npos || colon == 0) return {};
  std::string_view host = text.substr(0, colon);
  const std::string_view port = text.substr(colon + 1);
  const bool bracketed = host.starts_with('[') && host.ends_with(']');
  if (bracketed) host = host.substr(1, host.size() - 2);
  // ::1:7070 could be read in two ways.
  const bool ambiguous = !bracketed && host.find(':') != std::string_view::npos;
  HostPort result{.host = std::string(host)};
  const auto [end, error] = std::from_chars(port.data(), port.data() + port.size(), result.port);
  result.valid = !host.empty() && !ambiguous && error == std::errc{} &&
                 end == port.data() + port.size() && result.port >= 0 && result.port <= 65'535;
  return result;
}

bool is_loopback(std::string_view host) {
  return host == "localhost" || host == "::1" || host.starts_with("127.");
}

std::string check_listen(std::string_view text) {
  if (split_listen(text).valid) return {};
  return fmt::format("must be HOST:PORT such as 127.0.0.1:7070 or [::1]:7070, not {}", shown(text));
}

std::string check_url(std::string_view text) {
  // Not shown in any complaint: URLs carry keys.
  constexpr std::string_view kMust = "must be a URL such as https://example.com/path";
  const std::size_t scheme = text.find("://");
  const std::string name = lower(text.substr(0, std::min(scheme, text.size())));
  if (scheme == std::string_view::npos || (name != "http" && name != "https")) {
    return fmt::format("{}, with http or https", kMust);
  }
  std::string_view host = text.substr(scheme + 3);
  host = host.substr(0, host.find_first_of("/?#"));
  if (host.find('@') != std::string_view::npos) {
    return fmt::format("{}, without a user or password in it; for those there is secret-headers",
                       kMust);
  }
  const bool has_host = !host.empty() && host.front() != ':';
  const bool is_clean = is_plain_text(text) && text.find(' ') == std::string_view::npos;
  return has_host && is_clean ? std::string() : fmt::format("{}, with a host and no spaces", kMust);
}

std::string check_not_empty(std::string_view text) {
  return text.empty() ? "must not be empty" : std::string();
}

std::string check_kind_name(std::string_view name) {
  const bool star_within =
      name.substr(0, name.size() - (name.empty() ? 0 : 1)).find('*') != std::string_view::npos;
  if (!name.empty() && name.size() <= task::kKindBytesMax && is_plain_text(name) && !star_within) {
    return {};
  }
  return fmt::format(
      "must have a name of 1 to {} bytes without control characters; a * only at its end",
      task::kKindBytesMax);
}

std::string check_name(std::string_view name) {
  constexpr std::size_t kBytesMax = 100;
  if (!name.empty() && name.size() <= kBytesMax && is_plain_text(name)) return {};
  return fmt::format("must have a name of 1 to {} bytes without control characters", kBytesMax);
}

std::string check_guard_name(std::string_view name) {
  constexpr std::size_t kBytesMax = 60;
  const bool valid = std::ranges::all_of(name, [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '-';
  });
  if (!name.empty() && name.size() <= kBytesMax && valid) return {};
  return fmt::format("must have a name of 1 to {} letters, digits, - and _, such as user-bill",
                     kBytesMax);
}

std::string check_route(std::string_view path) {
  const auto is_plain = [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 ||
           std::string_view("/_-.").find(c) != std::string_view::npos;
  };
  // Empty: none is wanted.
  const bool valid =
      path.empty() ||
      (path.front() == '/' && path.size() > 1 && !path.ends_with('/') &&
       path.find("//") == std::string_view::npos && std::ranges::all_of(path, is_plain));
  return valid ? std::string()
               : "must be a path of letters, digits, -, _ and . such as /api/admin/bill/success";
}

std::string check_zone(std::string_view name) {
  const auto zone = TimeZone::load(name);
  return zone ? std::string() : fmt::format("is no time zone: {}", zone.error().message);
}

std::string check_header_name(std::string_view name) {
  constexpr std::array<std::string_view, 8> kTransport{
      "host", "content-length", "connection", "transfer-encoding", "upgrade",
      "te",   "trailer",        "keep-alive"};
  constexpr std::array<std::string_view, 6> kSecret{
      "authorization", "proxy-authorization", "cookie", "x-api-key", "api-key", "x-auth-token"};
  const std::string lowered = lower(name);
  if (!is_token(name)) return "must be the name of an HTTP header";
  if (is_any_of(kTransport, lowered) || lowered.starts_with("recourse-")) {
    return "must not be set here: the program sets it itself";
  }
  if (is_any_of(kSecret, lowered)) {
    return "holds a secret; write it under secret-headers as env:NAME or file:PATH";
  }
  return {};
}

std::string check_variable_name(std::string_view name) {
  const bool valid = !name.empty() && std::ranges::all_of(name, [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
  });
  if (!valid) return fmt::format("must be names of variables, not {}", shown(name));
  if (!name.starts_with("RECOURSE_") && name != "TRACEPARENT") return {};
  return fmt::format(
      "must be without {}: the server sets RECOURSE_... and TRACEPARENT itself, for "
      "each attempt",
      name);
}

}  // namespace recourse::app

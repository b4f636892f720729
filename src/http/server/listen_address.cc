#include "http/server/listen_address.h"

#include <fmt/format.h>

#include <charconv>
#include <optional>
#include <system_error>

#include "base/text.h"

namespace recourse::http {
namespace {

std::optional<std::uint16_t> parse_port(std::string_view text) {
  std::uint16_t port = 0;
  const char* const end = text.data() + text.size();
  const auto [stopped, error] = std::from_chars(text.data(), end, port);
  if (error != std::errc() || stopped != end) return std::nullopt;
  return port;
}

std::optional<std::string_view> parse_host(std::string_view text) {
  const bool has_brackets = text.starts_with('[') && text.ends_with(']');
  if (has_brackets) text = text.substr(1, text.size() - 2);
  const bool has_colon = text.find(':') != std::string_view::npos;
  // Without brackets nobody could tell where an IPv6 address ends and its port begins.
  if (text.empty() || has_brackets != has_colon || !is_plain_text(text)) return std::nullopt;
  return text;
}

}  // namespace

Result<ListenAddress> parse_listen_address(std::string_view text) {
  const std::size_t colon = text.rfind(':');
  if (colon != std::string_view::npos) {
    const std::optional<std::uint16_t> port = parse_port(text.substr(colon + 1));
    const std::optional<std::string_view> host = parse_host(text.substr(0, colon));
    if (port && host) return ListenAddress{.host = std::string(*host), .port = *port};
  }
  return fail(ErrorCode::kInvalid,
              fmt::format("cannot listen on {}: it must be HOST:PORT, such as 127.0.0.1:7070 or "
                          "[::1]:7070; correct it with --listen",
                          shown(text)));
}

}  // namespace recourse::http

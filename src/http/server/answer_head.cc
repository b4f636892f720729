#include "http/server/answer_head.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <boost/beast/http/status.hpp>
#include <iterator>

#include "http/server/characters.h"

namespace recourse::http {
namespace {

bool is_transports_own(std::string_view name) {
  constexpr std::array<std::string_view, 5> kOwn{"content-length", "transfer-encoding",
                                                 "connection", "date", "server"};
  return std::ranges::any_of(kOwn, [&](std::string_view own) { return is_same_name(own, name); });
}

void append_value(std::string_view value, std::string& out) {
  const std::size_t start = out.size();
  out += value;
  std::replace_if(
      out.begin() + static_cast<std::ptrdiff_t>(start), out.end(),
      [](char c) { return !is_field_text(c); }, ' ');
}

std::string_view reason(int status) {
  const boost::beast::string_view text = boost::beast::http::obsolete_reason(
      boost::beast::http::int_to_status(static_cast<unsigned>(status)));
  return {text.data(), text.size()};
}

}  // namespace

bool has_body(int status) { return status != 204 && status != 304; }

void write_head(const Response& response, BodyForm form, After after, std::string_view date,
                std::string& out) {
  fmt::format_to(std::back_inserter(out), "HTTP/1.1 {} {}\r\nServer: recourse\r\nDate: {}\r\n",
                 response.status, reason(response.status), date);
  for (const auto& [name, value] : response.headers.fields()) {
    if (is_transports_own(name) || name.empty() || !std::ranges::all_of(name, is_token)) continue;
    out += name;
    out += ": ";
    append_value(value, out);
    out += "\r\n";
  }
  if (form == BodyForm::kChunked) out += "Transfer-Encoding: chunked\r\n";
  if (form == BodyForm::kLength && has_body(response.status)) {
    fmt::format_to(std::back_inserter(out), "Content-Length: {}\r\n", response.body.size());
  }
  if (after == After::kClose) out += "Connection: close\r\n";
  if (after == After::kKeepAliveSaid) out += "Connection: keep-alive\r\n";
  out += "\r\n";
}

}  // namespace recourse::http

#include "http/server/head_scan.h"

#include <algorithm>
#include <optional>

#include "http/server/characters.h"

namespace recourse::http {
namespace {

std::optional<Rejection> check_version(std::string_view version) {
  if (version == "HTTP/1.1" || version == "HTTP/1.0") return std::nullopt;
  const bool is_another = version.size() == 8 && version.starts_with("HTTP/") &&
                          is_digit(version[5]) && version[6] == '.' && is_digit(version[7]);
  if (!is_another) return bad("the request line must end in HTTP/1.1");
  return Rejection{.status = 505, .detail = "this server speaks HTTP/1.1; ask in that"};
}

std::optional<Rejection> check_request_line(std::string_view line) {
  const std::size_t first = line.find(' ');
  const std::size_t last = line.rfind(' ');
  if (first == std::string_view::npos || first == last) {
    return bad("the request line must be METHOD, target and HTTP/1.1, with one space between them");
  }
  const std::string_view method = line.substr(0, first);
  const std::string_view target = line.substr(first + 1, last - first - 1);
  if (method.empty() || !std::ranges::all_of(method, is_token)) {
    return bad("the request line must begin with a method");
  }
  if (target.empty() || !std::ranges::all_of(target, is_visible)) {
    return bad("the target holds a character that must be sent as %XX");
  }
  return check_version(line.substr(last + 1));
}

std::optional<Rejection> check_field(std::string_view line) {
  if (line.front() == ' ' || line.front() == '\t') {
    return bad("a header must not be folded over several lines; send it on one");
  }
  const std::size_t colon = line.find(':');
  const std::string_view name = line.substr(0, colon);
  if (colon == std::string_view::npos || name.empty() || !std::ranges::all_of(name, is_token)) {
    return bad("a header must be NAME: VALUE, with no space before the colon");
  }
  if (!std::ranges::all_of(line.substr(colon + 1), is_field_text)) {
    return bad("a header's value holds a control character; leave it out");
  }
  return std::nullopt;
}

}  // namespace

Rejection HeadScan::too_long() const {
  const std::string limit = std::to_string(bytes_max_) + " bytes";
  if (line_start_ == 0) {
    return {.status = 414, .detail = "the target is longer than " + limit + "; send a shorter one"};
  }
  return {.status = 431, .detail = "the headers are longer than " + limit + "; send fewer"};
}

HeadScan::Verdict HeadScan::look(std::string_view text) {
  // Another protocol, TLS for one, need not send a line for us to wait for.
  if (!text.empty() && !is_token(text.front())) {
    return bad("this is not HTTP; is it TLS on a port without it?");
  }
  while (true) {
    const std::size_t end = text.find('\n', looked_);
    if (std::min(end, text.size()) >= bytes_max_) return too_long();
    looked_ = text.size();
    if (end == std::string_view::npos) return NeedsMore{};
    std::string_view line = text.substr(line_start_, end - line_start_);
    if (!line.ends_with('\r')) return bad("every line of the head must end in CR LF");
    line.remove_suffix(1);
    const bool is_request_line = line_start_ == 0;
    if (line.empty() && !is_request_line) return Whole{end + 1};
    std::optional<Rejection> rejection =
        is_request_line ? check_request_line(line) : check_field(line);
    if (rejection) return *std::move(rejection);
    line_start_ = looked_ = end + 1;
  }
}

}  // namespace recourse::http

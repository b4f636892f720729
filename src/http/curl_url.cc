#include "http/curl_url.h"

#include <fmt/format.h>

#include "base/text.h"
#include "http/curl_handles.h"
#include "http/reach.h"

namespace recourse::http {
namespace {

std::string part_of(CURLU* url, CURLUPart part, unsigned flags = 0) {
  char* raw = nullptr;
  if (curl_url_get(url, part, &raw, flags) != CURLUE_OK) return {};
  const CurlText text(raw);
  return text.get();
}

// IPv6 stands in brackets, and may name the interface.
bool is_address(std::string_view host) {
  if (!host.starts_with('[')) return parse_address(host).has_value();
  host.remove_prefix(1);
  return parse_address(host.substr(0, host.find_first_of("%]"))).has_value();
}

}  // namespace

Result<Destination> destination_of(const std::string& url) {
  const UrlHandle parsed(curl_url());
  const CURLUcode code = parsed == nullptr ? CURLUE_OUT_OF_MEMORY
                                           : curl_url_set(parsed.get(), CURLUPART_URL, url.c_str(),
                                                          CURLU_NON_SUPPORT_SCHEME);
  // libcurl reads up to a NUL; what comes behind one is no part of a URL that was meant.
  if (code != CURLUE_OK || url.find('\0') != std::string::npos) {
    return fail(ErrorCode::kInvalid, fmt::format("the URL is not one ({}); write it as "
                                                 "https://HOST[:PORT]/PATH",
                                                 curl_url_strerror(code)));
  }
  const std::string scheme = part_of(parsed.get(), CURLUPART_SCHEME);
  if (scheme != "http" && scheme != "https") {
    return fail(ErrorCode::kInvalid,
                fmt::format("only http and https URLs are called, not {}", shown(scheme)));
  }
  const std::string host = part_of(parsed.get(), CURLUPART_HOST);
  const std::string port = part_of(parsed.get(), CURLUPART_PORT, CURLU_DEFAULT_PORT);
  return Destination{.origin = fmt::format("{}://{}:{}", scheme, host, port),
                     .has_name = !is_address(host)};
}

}  // namespace recourse::http

#include "http/curl_call.h"

#include <fmt/format.h>
#include <sys/socket.h>

#include <algorithm>
#include <utility>

#include "base/text.h"

namespace recourse::http {
namespace {

constexpr std::size_t kHeaderBytesMax = std::size_t{64} * 1024;
constexpr std::size_t kMessageCharactersMax = 500;

bool is_success(int status) { return status >= 200 && status < 300; }

// A line break in a value would be a header of the caller's own making.
bool can_be_sent(const std::pair<std::string, std::string>& header) {
  constexpr std::string_view kToken =
      "!#$%&'*+-.^_`|~0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
  return !header.first.empty() && header.first.find_first_not_of(kToken) == std::string::npos &&
         std::ranges::none_of(header.second, [](char c) {
           return (static_cast<unsigned char>(c) < 0x20 && c != '\t') || c == 0x7F;
         });
}

// libcurl takes `Name:` for "leave it out" and `Name;` for an empty value.
std::string line_of(const std::pair<std::string, std::string>& header) {
  return header.second.empty() ? header.first + ";" : header.first + ": " + header.second;
}

bool append(ListHandle& list, const std::string& line) {
  curl_slist* longer = curl_slist_append(list.get(), line.c_str());
  if (longer == nullptr) return false;
  (void)list.release();
  list.reset(longer);
  return true;
}

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view kSpace = " \t\r\n";
  const std::size_t first = text.find_first_not_of(kSpace);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kSpace) - first + 1);
}

CallTrouble trouble_of(CURLcode code) {
  switch (code) {
    case CURLE_PEER_FAILED_VERIFICATION:
    case CURLE_SSL_ISSUER_ERROR:
    case CURLE_SSL_CACERT_BADFILE:
    case CURLE_SSL_PINNEDPUBKEYNOTMATCH:
    case CURLE_SSL_INVALIDCERTSTATUS: return CallTrouble::kUntrusted;
    default: return CallTrouble::kUnreachable;
  }
}

}  // namespace

Result<> CurlCall::check() {
  Result<Destination> destination = destination_of(call_.url);
  if (!destination) return fail(std::move(destination).error());
  destination_ = *std::move(destination);
  Result<ReachRule> reach = ReachRule::make(call_.reach);
  if (!reach) return fail(std::move(reach).error());
  reach_ = *std::move(reach);
  for (const auto& header : call_.headers.fields()) {
    if (can_be_sent(header)) continue;
    return fail(ErrorCode::kInvalid,
                fmt::format("the header {} cannot be sent: a name is made of letters, digits and "
                            "dashes, a value has no control characters",
                            shown(header.first)));
  }
  return {};
}

bool CurlCall::prepare(const Client::Settings& settings) {
  easy_.reset(curl_easy_init());
  return easy_ != nullptr && set_request() && set_rules(settings) && set_callbacks();
}

bool CurlCall::set_request() {
  bool good = set(CURLOPT_URL, call_.url.c_str());
  const bool has_no_body = call_.method == Method::kGet || call_.method == Method::kHead;
  if (call_.method == Method::kHead) good = good && set(CURLOPT_NOBODY, 1L);
  if (!has_no_body || !call_.body.empty()) {
    // Not copied: the call outlives the handle.
    good = good && set(CURLOPT_POSTFIELDS, call_.body.data()) &&
           set(CURLOPT_POSTFIELDSIZE_LARGE, static_cast<curl_off_t>(call_.body.size()));
  }
  if (call_.method != Method::kHead) {
    good = good && set(CURLOPT_CUSTOMREQUEST, std::string(to_string(call_.method)).c_str());
  }
  for (const auto& header : call_.headers.fields())
    good = good && append(headers_, line_of(header));
  // What libcurl would add unasked: a form's type, and a wait for "100 Continue".
  if (!call_.headers.find("content-type")) good = good && append(headers_, "Content-Type:");
  good = good && append(headers_, "Expect:");
  return good && set(CURLOPT_HTTPHEADER, headers_.get());
}

bool CurlCall::set_rules(const Client::Settings& settings) {
  bool good = set(CURLOPT_NOSIGNAL, 1L) && set(CURLOPT_PROTOCOLS_STR, "http,https") &&
              set(CURLOPT_FOLLOWLOCATION, 0L) && set(CURLOPT_SSL_VERIFYPEER, 1L) &&
              set(CURLOPT_SSL_VERIFYHOST, 2L) &&
              set(CURLOPT_SSLVERSION, static_cast<long>(CURL_SSLVERSION_TLSv1_2)) &&
              set(CURLOPT_USERAGENT, settings.user_agent.c_str()) &&
              // An empty proxy is none, whatever the environment says.
              set(CURLOPT_PROXY, "") && set(CURLOPT_TCP_KEEPALIVE, 1L) &&
              // One call, one connection: what breaks, breaks one call.
              set(CURLOPT_HTTP_VERSION, static_cast<long>(CURL_HTTP_VERSION_1_1)) &&
              // Without it, ending a call whose name is being looked up would wait for that.
              set(CURLOPT_QUICK_EXIT, 1L);
  // The whole has its own deadline, kept by the client, which also knows of calls that wait.
  const auto connect = std::chrono::ceil<std::chrono::milliseconds>(settings.connect_within);
  good = good && set(CURLOPT_CONNECTTIMEOUT_MS, static_cast<long>(connect.count()));
  if (call_.authorities.empty()) return good;
  curl_blob authorities{.data = const_cast<char*>(call_.authorities.data()),
                        .len = call_.authorities.size(),
                        .flags = CURL_BLOB_NOCOPY};
  return good && set(CURLOPT_CAINFO, nullptr) && set(CURLOPT_CAPATH, nullptr) &&
         set(CURLOPT_CAINFO_BLOB, &authorities);
}

bool CurlCall::set_callbacks() {
  return set(CURLOPT_PRIVATE, this) && set(CURLOPT_ERRORBUFFER, error_.data()) &&
         set(CURLOPT_HEADERFUNCTION, &on_header) && set(CURLOPT_HEADERDATA, this) &&
         set(CURLOPT_WRITEFUNCTION, &on_body) && set(CURLOPT_WRITEDATA, this) &&
         set(CURLOPT_OPENSOCKETFUNCTION, &on_socket) && set(CURLOPT_OPENSOCKETDATA, this) &&
         set(CURLOPT_PREREQFUNCTION, &on_request) && set(CURLOPT_PREREQDATA, this);
}

std::size_t CurlCall::on_header(char* data, std::size_t size, std::size_t count, void* self) {
  const std::size_t bytes = size * count;
  return static_cast<CurlCall*>(self)->take_header({data, bytes}) ? bytes : 0;
}

bool CurlCall::take_header(std::string_view line) {
  header_bytes_ += line.size();
  headers_too_long_ = header_bytes_ > kHeaderBytesMax;
  if (headers_too_long_) return false;
  if (body_began_) return true;  // a trailer
  if (line.starts_with("HTTP/")) {
    answer_.headers = {};  // of an interim answer, such as 100
    return true;
  }
  const std::size_t colon = line.find(':');
  if (colon == std::string_view::npos) return true;
  answer_.headers.add(std::string(trimmed(line.substr(0, colon))),
                      std::string(trimmed(line.substr(colon + 1))));
  return true;
}

std::size_t CurlCall::on_body(char* data, std::size_t size, std::size_t count, void* self) {
  const std::size_t bytes = size * count;
  // Anything but the size ends the transfer.
  return static_cast<CurlCall*>(self)->take_body({data, bytes}) ? bytes : CURL_WRITEFUNC_ERROR;
}

bool CurlCall::take_body(std::string_view piece) {
  if (!std::exchange(body_began_, true)) {
    long status = 0;
    curl_easy_getinfo(easy_.get(), CURLINFO_RESPONSE_CODE, &status);
    answer_.status = static_cast<int>(status);
  }
  if (call_.on_piece && is_success(answer_.status)) {
    told_to_end_ = !call_.on_piece(piece);
    return !told_to_end_;
  }
  const std::size_t room = call_.answer_bytes_max - answer_.body.size();
  answer_.body += piece.substr(0, room);
  answer_.cut = piece.size() > room;
  return !answer_.cut;
}

// Always ours: libcurl's own would be inherited by programs that others start.
curl_socket_t CurlCall::on_socket(void* self, curlsocktype, curl_sockaddr* to) {
  auto& call = *static_cast<CurlCall*>(self);
  call.progress_.found_address(call.id_);
  const auto address = address_of(to->addr);
  if (!call.reach_.permits(address)) {
    call.out_of_reach_ = address.value_or(Address{});
    return CURL_SOCKET_BAD;
  }
  return ::socket(to->family, to->socktype | SOCK_CLOEXEC, to->protocol);
}

// Also where a connection is used again, which another call with another reach may have opened.
int CurlCall::on_request(void* self, char* peer, char*, int, int) {
  auto& call = *static_cast<CurlCall*>(self);
  call.progress_.connected(call.id_);
  const auto address = parse_address(peer == nullptr ? "" : peer);
  if (call.reach_.permits(address)) return CURL_PREREQFUNC_OK;
  call.out_of_reach_ = address.value_or(Address{});
  return CURL_PREREQFUNC_ABORT;
}

CallFailed CurlCall::failed(CallTrouble trouble, std::string_view why) const {
  const std::string_view where = destination_.origin;
  return {trouble, one_line(where.empty() ? std::string(why) : fmt::format("{}: {}", where, why),
                            kMessageCharactersMax)};
}

CallResult CurlCall::result(CURLcode code) {
  if (told_to_end_) return failed(CallTrouble::kStopped, "its reader wanted no more");
  if (code == CURLE_OK || answer_.cut) {
    long status = 0;
    curl_easy_getinfo(easy_.get(), CURLINFO_RESPONSE_CODE, &status);
    answer_.status = static_cast<int>(status);
    return std::move(answer_);
  }
  if (headers_too_long_) {
    return failed(CallTrouble::kBroken, "the headers of its answer are longer than 64 KiB");
  }
  if (out_of_reach_ && (code == CURLE_COULDNT_CONNECT || code == CURLE_ABORTED_BY_CALLBACK)) {
    return failed(CallTrouble::kForbidden,
                  fmt::format("{} is not a public address, and no allowed range has it",
                              to_string(*out_of_reach_)));
  }
  const std::string_view detail(error_.data());
  CallTrouble trouble = trouble_of(code);
  long sent = 0;
  curl_easy_getinfo(easy_.get(), CURLINFO_REQUEST_SIZE, &sent);
  if (trouble == CallTrouble::kUnreachable && sent > 0) trouble = CallTrouble::kBroken;
  return failed(trouble, detail.empty() ? curl_easy_strerror(code) : detail);
}

}  // namespace recourse::http

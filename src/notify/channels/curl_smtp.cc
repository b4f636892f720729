#include "notify/channels/curl_smtp.h"

#include <fmt/format.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <cstring>
#include <ctime>
#include <optional>
#include <utility>

#include "base/field_checks.h"
#include "base/text.h"
#include "http/curl_handles.h"
#include "notify/channels/endpoint.h"

namespace recourse::notify {
namespace {

std::string part_of(CURLU* url, CURLUPart part) {
  char* raw = nullptr;
  if (curl_url_get(url, part, &raw, 0) != CURLUE_OK) return {};
  const http::CurlText text(raw);
  return text.get();
}

struct Place {
  std::string host;
  std::string problem;  // empty where there is none
};

Place place_of(const std::string& url) {
  const http::UrlHandle parsed(curl_url());
  if (parsed == nullptr || url.find('\0') != std::string::npos ||
      curl_url_set(parsed.get(), CURLUPART_URL, url.c_str(), 0) != CURLUE_OK) {
    return {.host = {}, .problem = "must be smtp://HOST[:PORT] or smtps://HOST[:PORT]"};
  }
  const std::string scheme = part_of(parsed.get(), CURLUPART_SCHEME);
  Place place{.host = part_of(parsed.get(), CURLUPART_HOST), .problem = {}};
  if (scheme != "smtp" && scheme != "smtps") {
    place.problem = "must begin with smtp:// or smtps://";
  } else if (!part_of(parsed.get(), CURLUPART_PASSWORD).empty() ||
             !part_of(parsed.get(), CURLUPART_USER).empty()) {
    place.problem = "must be without user and password, which have settings of their own";
  }
  return place;
}

// A write to a connection that the other side has closed must not end the program, on whichever
// thread this is.
class WithoutSigpipe {
 public:
  WithoutSigpipe() {
    sigset_t pending;
    sigpending(&pending);
    was_pending_ = sigismember(&pending, SIGPIPE) == 1;
    sigemptyset(&pipe_);
    sigaddset(&pipe_, SIGPIPE);
    pthread_sigmask(SIG_BLOCK, &pipe_, &before_);
  }
  ~WithoutSigpipe() {
    const timespec none{};
    if (!was_pending_) sigtimedwait(&pipe_, nullptr, &none);
    pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  }
  WithoutSigpipe(const WithoutSigpipe&) = delete;
  WithoutSigpipe& operator=(const WithoutSigpipe&) = delete;

 private:
  sigset_t pipe_{};
  sigset_t before_{};
  bool was_pending_ = false;
};

class Transfer {
 public:
  Transfer(const SmtpServer& server, const SmtpMail& mail, const std::stop_token& stop,
           http::ReachRule reach)
      : server_(server), rest_(mail.content), stop_(stop), reach_(std::move(reach)) {}

  bool prepare(const SmtpMail& mail) {
    easy_.reset(curl_easy_init());
    if (easy_ == nullptr) return false;
    bool good = set(CURLOPT_MAIL_FROM, fmt::format("<{}>", mail.from).c_str());
    for (const std::string& to : mail.to) {
      curl_slist* longer = curl_slist_append(to_.get(), fmt::format("<{}>", to).c_str());
      if (longer == nullptr) return false;
      (void)to_.release();
      to_.reset(longer);
    }
    return good && set(CURLOPT_MAIL_RCPT, to_.get()) && set_server() && set_callbacks();
  }

  Result<> run() {
    const WithoutSigpipe quiet;
    const CURLcode code = curl_easy_perform(easy_.get());
    return code == CURLE_OK ? Result<>() : failure(code);
  }

 private:
  template <class Value>
  bool set(CURLoption option, Value value) {
    return curl_easy_setopt(easy_.get(), option, value) == CURLE_OK;
  }

  bool set_server() {
    const auto timeout = std::chrono::ceil<std::chrono::milliseconds>(server_.timeout);
    bool good = set(CURLOPT_URL, server_.url.c_str()) && set(CURLOPT_PROTOCOLS_STR, "smtp,smtps") &&
                set(CURLOPT_USE_SSL, static_cast<long>(CURLUSESSL_ALL)) &&
                set(CURLOPT_SSL_VERIFYPEER, 1L) && set(CURLOPT_SSL_VERIFYHOST, 2L) &&
                set(CURLOPT_SSLVERSION, static_cast<long>(CURL_SSLVERSION_TLSv1_2)) &&
                // An empty proxy is none, whatever the environment says.
                set(CURLOPT_PROXY, "") && set(CURLOPT_NOSIGNAL, 1L) &&
                // Without it, the end of a look-up that takes too long would be waited for.
                set(CURLOPT_QUICK_EXIT, 1L) &&
                set(CURLOPT_TIMEOUT_MS, static_cast<long>(timeout.count()));
    if (!server_.user.empty()) {
      good = good && set(CURLOPT_USERNAME, server_.user.c_str()) &&
             set(CURLOPT_PASSWORD, server_.password.c_str());
    }
    if (server_.authorities.empty()) return good;
    curl_blob authorities{.data = const_cast<char*>(server_.authorities.data()),
                          .len = server_.authorities.size(),
                          .flags = CURL_BLOB_NOCOPY};
    return good && set(CURLOPT_CAINFO, nullptr) && set(CURLOPT_CAPATH, nullptr) &&
           set(CURLOPT_CAINFO_BLOB, &authorities);
  }

  bool set_callbacks() {
    return set(CURLOPT_UPLOAD, 1L) && set(CURLOPT_ERRORBUFFER, error_.data()) &&
           set(CURLOPT_READFUNCTION, &on_read) && set(CURLOPT_READDATA, this) &&
           set(CURLOPT_WRITEFUNCTION, &on_answer) && set(CURLOPT_NOPROGRESS, 0L) &&
           set(CURLOPT_XFERINFOFUNCTION, &on_progress) && set(CURLOPT_XFERINFODATA, this) &&
           set(CURLOPT_OPENSOCKETFUNCTION, &on_socket) && set(CURLOPT_OPENSOCKETDATA, this);
  }

  static std::size_t on_read(char* to, std::size_t size, std::size_t count, void* self) {
    std::string_view& rest = static_cast<Transfer*>(self)->rest_;
    const std::size_t bytes = std::min(size * count, rest.size());
    std::memcpy(to, rest.data(), bytes);
    rest.remove_prefix(bytes);
    return bytes;
  }
  // Nobody reads what it says; libcurl would print it.
  static std::size_t on_answer(char*, std::size_t size, std::size_t count, void*) {
    return size * count;
  }
  static int on_progress(void* self, curl_off_t, curl_off_t, curl_off_t, curl_off_t) {
    return static_cast<Transfer*>(self)->stop_.stop_requested() ? 1 : 0;
  }
  static curl_socket_t on_socket(void* self, curlsocktype, curl_sockaddr* to) {
    auto& transfer = *static_cast<Transfer*>(self);
    const auto address = http::address_of(to->addr);
    if (!transfer.reach_.permits(address)) {
      transfer.out_of_reach_ = true;
      return CURL_SOCKET_BAD;
    }
    return ::socket(to->family, to->socktype | SOCK_CLOEXEC, to->protocol);
  }

  [[nodiscard]] Result<> failure(CURLcode code) const {
    long answer = 0;
    curl_easy_getinfo(easy_.get(), CURLINFO_RESPONSE_CODE, &answer);
    const auto say = [this](ErrorCode error, std::string_view what) {
      return fail(error, one_line(fmt::format("{}: {}", place_of(server_.url).host, what), 500));
    };
    if (stop_.stop_requested()) return say(ErrorCode::kUnavailable, "the notifier stopped");
    if (out_of_reach_) {
      return say(ErrorCode::kInvalid, "it is not a public address, and no allowed range has it");
    }
    const std::string_view detail = error_[0] == '\0' ? curl_easy_strerror(code) : error_.data();
    switch (code) {
      case CURLE_LOGIN_DENIED:
        return say(ErrorCode::kInvalid,
                   fmt::format("it refused user name or password ({})", detail));
      case CURLE_USE_SSL_FAILED:
        return say(
            ErrorCode::kInvalid,
            "it offers no STARTTLS, and nothing is sent without TLS; use smtps:// or another port");
      case CURLE_PEER_FAILED_VERIFICATION:
      case CURLE_SSL_ISSUER_ERROR:
      case CURLE_SSL_CACERT_BADFILE: return say(ErrorCode::kInvalid, detail);
      case CURLE_OPERATION_TIMEDOUT:
        return say(ErrorCode::kUnavailable,
                   fmt::format("it was not done within {}", format_duration(server_.timeout)));
      default:
        // 5yz is for good, 4yz may pass.
        return say(answer >= 500 && answer < 600 ? ErrorCode::kInvalid : ErrorCode::kUnavailable,
                   detail);
    }
  }

  const SmtpServer& server_;
  std::string_view rest_;
  const std::stop_token& stop_;
  const http::ReachRule reach_;
  bool out_of_reach_ = false;
  http::ListHandle to_;
  std::array<char, CURL_ERROR_SIZE> error_{};
  // Last: it goes first, and may still call what is above.
  http::EasyHandle easy_;
};

}  // namespace

Result<> validate(const SmtpServer& server) {
  using namespace std::chrono_literals;
  const Place place = place_of(server.url);
  const Result<http::ReachRule> reach = http::ReachRule::make(server.reach);
  return FieldChecks("email")
      .require(place.problem.empty(), "server", place.problem)
      .require(server.user.empty() == server.password.empty(), "user",
               "and password must be given both or neither")
      .require(reach.has_value(), "reach.allowed", reach ? "" : reach.error().message)
      .between<Duration>("timeout", server.timeout, 1ms, 5min)
      .result();
}

Result<> send_mail(const SmtpServer& server, const SmtpMail& mail, const std::stop_token& stop) {
  const http::CurlUse use;
  Result<http::ReachRule> reach = http::ReachRule::make(server.reach);
  if (!reach) return fail(std::move(reach).error());
  Transfer transfer(server, mail, stop, *std::move(reach));
  if (!use.good() || !transfer.prepare(mail)) {
    return fail(ErrorCode::kUnavailable, "the machine has no memory left for the mail");
  }
  return transfer.run();
}

}  // namespace recourse::notify

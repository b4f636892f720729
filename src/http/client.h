// Outgoing HTTP on one thread: thousands of calls at once through libcurl's multi interface.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "http/message.h"

namespace recourse::http {

// Which addresses a call may go to, checked when the connection is made, so that no name can be
// pointed elsewhere in between.
struct Reach {
  // Loopback, private, link-local and other special ranges only where `allowed` names them.
  bool public_only = false;
  // CIDR, such as 10.1.0.0/16.
  std::vector<std::string> allowed = {};
};

struct Call {
  Method method = Method::kPost;
  std::string url;  // http or https
  Headers headers = {};
  std::string body = {};
  // From send() to the last byte of the answer.
  Duration timeout = std::chrono::seconds(10);
  std::size_t answer_bytes_max = std::size_t{64} * 1024;
  Reach reach = {};
  // PEM of authorities to trust instead of the system's; empty: the system's.
  std::string authorities = {};
  // Answers in pieces, as they come, instead of in Answer::body; false ends the call.
  std::function<bool(std::string_view piece)> on_piece = nullptr;
};

struct Answer {
  int status = 0;
  Headers headers = {};
  std::string body = {};
  bool cut = false;  // it was longer than was asked for
};

enum class CallTrouble : std::uint8_t {
  kTimedOut,     // it may have happened all the same
  kUnreachable,  // no connection, or one that broke before the answer
  kForbidden,    // not a place we may call: an address out of reach, a scheme that is not http
  kUntrusted,    // TLS: the other side is not who it should be
  kStopped,      // by cancel(), or the client's end
};

struct CallFailed {
  CallTrouble trouble;
  std::string message;  // for people; without the URL's password and query
};

using CallResult = std::variant<Answer, CallFailed>;
using CallId = std::uint64_t;

// Safe to use from any thread.
class Client {
 public:
  struct Settings {
    int connections_max = 2'000;
    int connections_per_host_max = 1'000;
    std::string user_agent = "recourse";
  };

  static Result<std::unique_ptr<Client>> open(const Settings& settings);
  // Ends every call as kStopped first.
  virtual ~Client() = default;

  // `ended` is called exactly once, on the client's thread: it must not block.
  virtual CallId send(Call call, std::function<void(CallResult)> ended) = 0;
  // Ends soon, as kStopped; nothing happens where it has ended already.
  virtual void cancel(CallId call) = 0;
};

// For programs that wait: the same, one call.
CallResult fetch(Client& client, Call call);

}  // namespace recourse::http

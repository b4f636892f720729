// Outgoing HTTP on one thread: thousands of calls at once through libcurl's multi interface.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <variant>

#include "base/result.h"
#include "base/time.h"
#include "http/message.h"
#include "http/reach.h"

namespace recourse::http {

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
  // The body of a 2xx answer in pieces, as they come and however many, instead of in Answer::body;
  // false ends the call, as kStopped. Of other answers the body is where it always is, so that a
  // refusal can be read. On the client's thread: it must not block.
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
  kUnreachable,  // no connection: nothing was sent
  kBroken,       // sent, and no whole answer came back: it may have happened all the same
  kForbidden,    // not a call we may make: an address out of reach, a scheme that is not http, a
                 // header that would be two
  kUntrusted,    // TLS: the other side is not who it should be
  kStopped,      // by cancel(), or the client's end
};

struct CallFailed {
  CallTrouble trouble;
  std::string message;  // for people; without the URL's password and query
};

using CallResult = std::variant<Answer, CallFailed>;
// Grow from 1.
using CallId = std::uint64_t;

// Certificates are verified, redirects are answers like others, and the environment's proxies are
// ignored. A request that finds its kept connection closed by the other side, before a byte of an
// answer, is sent again on a new one.
//
// Safe to use from any thread.
class Client {
 public:
  struct Settings {
    // Calls at once, each on a connection of its own; the others wait their turn, and their time
    // runs. Connections are kept for the next call. The process must be allowed as many open files.
    int connections_max = 2'000;
    int connections_per_host_max = 1'000;
    // A place that takes longer to connect to, its name looked up, is unreachable.
    Duration connect_within = std::chrono::seconds(10);
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

// For programs that wait: the same, one call. Not on the client's own thread.
CallResult fetch(Client& client, Call call);

}  // namespace recourse::http

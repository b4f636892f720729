// An HTTP/1.1 server: it reads requests within limits and deadlines, hands each to the service, and
// writes what the service answers. It knows nothing of routes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/log.h"
#include "base/result.h"
#include "base/time.h"
#include "http/message.h"

namespace recourse::http {

struct TlsFiles {
  std::string certificate;  // PEM, with its chain
  std::string key;          // PEM
};

struct ServerSettings {
  // HOST:PORT, [::1]:PORT; port 0 takes a free one.
  std::string listen = "127.0.0.1:7070";
  std::optional<TlsFiles> tls = std::nullopt;
  int threads = 1;
  std::size_t header_bytes_max = std::size_t{8} * 1024;
  std::size_t body_bytes_max = std::size_t{1024} * 1024;
  std::size_t connections_max = 2'000;
  // From the first byte of a request to its last; also TLS's handshake, and a new connection's wait
  // for its first byte.
  Duration read_within = std::chrono::seconds(15);
  // A whole answer; a stream: each piece.
  Duration write_within = std::chrono::seconds(30);
  // Between two requests of a connection.
  Duration idle_for = std::chrono::seconds(60);
  // A service that has not answered by then is answered for: 503.
  Duration answer_within = std::chrono::seconds(60);
  // What may wait to be written on one stream; a client that reads slower is cut off.
  std::size_t stream_bytes_max = std::size_t{256} * 1024;
};

// An answer that goes on: server-sent events. Safe to use from any thread.
class Stream {
 public:
  virtual ~Stream() = default;
  // False: the client is gone, was too slow, or the server stops. Never waits.
  virtual bool write(std::string piece) = 0;
  virtual void close() = 0;
};

// Where one request's answer goes. It is answered once, from any thread, now or later; one that is
// dropped without an answer becomes a 500.
class Responder {
 public:
  class Exchange;  // the transport's side

  explicit Responder(std::shared_ptr<Exchange> exchange);
  ~Responder();
  Responder(Responder&&) noexcept;
  Responder& operator=(Responder&&) noexcept;

  void send(Response response) &&;
  // The body follows piece by piece (chunked, no length).
  std::shared_ptr<Stream> stream(Response head) &&;
  // True once nobody waits for the answer any more.
  [[nodiscard]] bool is_abandoned() const;

 private:
  std::shared_ptr<Exchange> exchange_;
};

// Called on a thread of the server's: it must not block.
using Service = std::function<void(Request, Responder)>;

// How the transport itself refuses (400, 408, 413, 414, 431, 500, 503 ...), so that these look like
// all other errors. `detail` says what to do.
using Refusal = std::function<Response(int status, std::string_view detail)>;

class Server {
 public:
  // Listens, and serves from then on. The log must outlive it.
  static Result<std::unique_ptr<Server>> start(ServerSettings settings, Service service,
                                               Refusal refusal, Log& log);
  virtual ~Server() = default;

  // Where 0 was asked for, what was given.
  [[nodiscard]] virtual std::uint16_t port() const = 0;
  // Accepts nothing new, closes idle connections and streams, waits for requests under way up to
  // the limit, and then closes those too. Repeating is harmless. Not from within the service.
  virtual void stop(Duration limit) = 0;
  [[nodiscard]] virtual std::size_t connections() const = 0;
};

}  // namespace recourse::http

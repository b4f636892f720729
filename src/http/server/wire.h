// The bytes of one connection, with TLS around them or without.
//
// Thread safety: on the connection's strand only.
#pragma once

#include <boost/asio/ssl/stream.hpp>
#include <optional>
#include <span>
#include <string>
#include <tuple>

#include "http/server/asio.h"

namespace recourse::http {

class Wire {
 public:
  using Transferred = std::tuple<error_code, std::size_t>;

  // `tls` is null for plain TCP.
  Wire(Socket socket, asio::ssl::context* tls);

  [[nodiscard]] bool is_encrypted() const { return tls_.has_value(); }
  // The other side's address, without a port.
  [[nodiscard]] std::string peer() const;

  Awaitable<std::tuple<error_code>> handshake();
  Awaitable<Transferred> read_some(std::span<char> room);
  Awaitable<Transferred> write(std::span<const asio::const_buffer> pieces);
  // What the kernel takes without waiting; nothing over TLS. An error shows at the next write.
  std::size_t write_now(std::span<const asio::const_buffer> pieces);

  // Says that nothing more will be written. The other side may still send; read_raw takes it.
  Awaitable<> say_goodbye();
  Awaitable<Transferred> read_raw(std::span<char> room);

  // True once the other side has closed, or half closed, whatever it sent before.
  [[nodiscard]] bool peer_is_gone();
  // Calls `look` when there may be something to see of that.
  template <class Look>
  void when_readable(Look look) {
    socket_.async_wait(Socket::wait_read, std::move(look));
  }

  // Ends what waits.
  void cancel();
  void close();

 private:
  Socket socket_;
  std::optional<asio::ssl::stream<Socket&>> tls_;
};

}  // namespace recourse::http

#include "http/server/wire.h"

#include <poll.h>

#include <boost/asio/write.hpp>
#include <utility>

namespace recourse::http {

Wire::Wire(Socket socket, asio::ssl::context* tls) : socket_(std::move(socket)) {
  // An option that cannot be set is no reason to serve nobody.
  error_code ignored;
  socket_.set_option(asio::ip::tcp::no_delay(true), ignored);
  socket_.non_blocking(true, ignored);
  if (tls != nullptr) tls_.emplace(socket_, *tls);
}

std::string Wire::peer() const {
  error_code error;
  const asio::ip::tcp::endpoint endpoint = socket_.remote_endpoint(error);
  if (error) return {};
  asio::ip::address address = endpoint.address();
  // What came by IPv4 to a socket that serves both is shown as such.
  if (address.is_v6() && address.to_v6().is_v4_mapped()) {
    address = asio::ip::make_address_v4(asio::ip::v4_mapped, address.to_v6());
  }
  return address.to_string();
}

Awaitable<std::tuple<error_code>> Wire::handshake() {
  return tls_->async_handshake(asio::ssl::stream_base::server, kAwait);
}

Awaitable<Wire::Transferred> Wire::read_some(std::span<char> room) {
  const asio::mutable_buffer buffer(room.data(), room.size());
  return tls_ ? tls_->async_read_some(buffer, kAwait) : socket_.async_read_some(buffer, kAwait);
}

Awaitable<Wire::Transferred> Wire::read_raw(std::span<char> room) {
  return socket_.async_read_some(asio::mutable_buffer(room.data(), room.size()), kAwait);
}

Awaitable<Wire::Transferred> Wire::write(std::span<const asio::const_buffer> pieces) {
  return tls_ ? asio::async_write(*tls_, pieces, kAwait)
              : asio::async_write(socket_, pieces, kAwait);
}

std::size_t Wire::write_now(std::span<const asio::const_buffer> pieces) {
  if (tls_) return 0;
  error_code error;
  return socket_.write_some(pieces, error);
}

Awaitable<> Wire::say_goodbye() {
  // What the other side answers does not matter, only that it was told.
  if (tls_) co_await tls_->async_shutdown(kAwait);
  error_code ignored;
  socket_.shutdown(Socket::shutdown_send, ignored);
}

bool Wire::peer_is_gone() {
  pollfd socket{.fd = socket_.native_handle(), .events = POLLRDHUP, .revents = 0};
  return poll(&socket, 1, 0) > 0;
}

void Wire::cancel() {
  error_code ignored;
  socket_.cancel(ignored);
}

void Wire::close() {
  error_code ignored;
  socket_.close(ignored);
}

}  // namespace recourse::http

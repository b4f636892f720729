#include "http/server/listener.h"

#include <fmt/format.h>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/post.hpp>
#include <utility>

#include "http/server/listen_address.h"

namespace recourse::http {
namespace {

using asio::ip::tcp;

// Each is told why and given a second to read it; beyond these, a connection is closed at once.
constexpr std::size_t kTurnedAwayMax = 64;
// When the process has no descriptor left, accepting fails until somebody leaves.
constexpr Duration kPauseAfterFailure = std::chrono::milliseconds(50);

std::string_view what_to_do(const error_code& error) {
  if (error == asio::error::address_in_use) {
    return "address already in use; stop the other program or choose another with --listen";
  }
  if (error == boost::system::errc::address_not_available) {
    return "this machine has no such address; choose another with --listen";
  }
  if (error == asio::error::access_denied) {
    return "permission denied; choose a port above 1023 with --listen, or allow this one";
  }
  return {};
}

Unexpected refuse(const std::string& listen, const error_code& error) {
  const std::string_view known = what_to_do(error);
  return fail(ErrorCode::kInvalid, fmt::format("cannot listen on {}: {}", listen,
                                               known.empty() ? error.message() : known));
}

}  // namespace

Listener::Listener(asio::io_context& io, Serving& serving, Connections& connections)
    : io_(io),
      serving_(serving),
      connections_(connections),
      acceptor_(asio::make_strand(io)),
      pause_(acceptor_.get_executor()) {}

Result<> Listener::open() {
  const std::string& listen = serving_.settings.listen;
  Result<ListenAddress> address = parse_listen_address(listen);
  if (!address) return fail(std::move(address).error());
  error_code error;
  tcp::resolver resolver(io_);
  const auto found =
      resolver.resolve(address->host, std::to_string(address->port), tcp::resolver::passive, error);
  if (error || found.empty()) {
    return fail(ErrorCode::kInvalid,
                fmt::format("cannot listen on {}: no address is known by the name {}; choose "
                            "another with --listen",
                            listen, address->host));
  }
  const tcp::endpoint endpoint = found.begin()->endpoint();
  acceptor_.open(endpoint.protocol(), error);
  if (!error) acceptor_.set_option(Acceptor::reuse_address(true), error);
  if (!error) acceptor_.bind(endpoint, error);
  if (!error) acceptor_.listen(Acceptor::max_listen_connections, error);
  if (error) return refuse(listen, error);
  port_ = acceptor_.local_endpoint(error).port();
  return {};
}

void Listener::start() {
  asio::co_spawn(
      acceptor_.get_executor(), [this] { return accept(); }, asio::detached);
}

void Listener::close() {
  asio::post(acceptor_.get_executor(), [this] {
    error_code ignored;
    acceptor_.close(ignored);
    pause_.cancel();
  });
}

Awaitable<> Listener::accept() {
  bool has_failed = false;
  while (acceptor_.is_open()) {
    const Strand strand = asio::make_strand(io_);
    auto [error, socket] = co_await acceptor_.async_accept(strand, kAwait);
    if (!error) {
      has_failed = false;
      welcome(std::move(socket));
    } else if (acceptor_.is_open()) {
      // Said once, not twenty times a second.
      if (!std::exchange(has_failed, true)) {
        serving_.log.warning("http_accept_failed", {{"error", error.message()}});
      }
      pause_.expires_after(kPauseAfterFailure);
      co_await pause_.async_wait(kAwait);
    }
  }
}

void Listener::welcome(Socket socket) {
  const Connections::Count count = connections_.count();
  const bool has_room = count.served < serving_.settings.connections_max;
  if (!has_room && count.turned_away >= kTurnedAwayMax) return;
  const auto connection = std::make_shared<Connection>(
      std::move(socket), serving_, connections_,
      has_room ? Connection::Welcome::kServed : Connection::Welcome::kTurnedAway);
  if (connections_.add(connection)) connection->start();
}

}  // namespace recourse::http

#include "message/rabbitmq/connection.h"

#include <amqp_ssl_socket.h>
#include <amqp_tcp_socket.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <algorithm>
#include <cstdint>

#include "message/rabbitmq/errors.h"

namespace recourse::message::rabbitmq {
namespace {

// What the library itself asks for.
constexpr int kFrameMax = 131'072;
// Debian's own list, for who names no authority: the library looks at none by itself.
constexpr const char* kSystemAuthorities = "/etc/ssl/certs/ca-certificates.crt";

amqp_socket_t* new_socket(amqp_connection_state_t connection, const SourceSettings& settings,
                          bool tls) {
  if (!tls) return amqp_tcp_socket_new(connection);
  amqp_socket_t* socket = amqp_ssl_socket_new(connection);
  if (socket == nullptr) return nullptr;
  amqp_ssl_socket_set_verify_peer(socket, 1);
  amqp_ssl_socket_set_verify_hostname(socket, 1);
  const char* authorities = settings.tls_ca.empty() ? kSystemAuthorities : settings.tls_ca.c_str();
  return amqp_ssl_socket_set_cacert(socket, authorities) == AMQP_STATUS_OK ? socket : nullptr;
}

// Should the broker read nothing any more, what is written to it must not wait for ever.
void bound_writes(int socket, Duration longest) {
  const auto milliseconds = static_cast<unsigned int>(longest / std::chrono::milliseconds(1));
  (void)::setsockopt(socket, IPPROTO_TCP, TCP_USER_TIMEOUT, &milliseconds, sizeof milliseconds);
}

}  // namespace

timeval until(Deadline deadline) {
  const auto left = std::max(std::chrono::steady_clock::duration::zero(),
                             deadline - std::chrono::steady_clock::now());
  const auto seconds = std::chrono::floor<std::chrono::seconds>(left);
  const auto rest = std::chrono::floor<std::chrono::microseconds>(left - seconds);
  return {static_cast<time_t>(seconds.count()), static_cast<suseconds_t>(rest.count())};
}

Result<Connection> Connection::open(const SourceSettings& settings, const Address& address,
                                    Deadline deadline) {
  Connection connection{ConnectionHandle(amqp_new_connection())};
  if (!connection.handle_)
    return fail(ErrorCode::kUnavailable, "no memory for a connection to RabbitMQ");
  if (Result<> opened = connection.open_socket(settings, address, deadline); !opened) {
    return fail(std::move(opened).error());
  }
  connection.set_deadline(deadline);
  if (Result<> let_in = connection.log_in(settings, address); !let_in) {
    return fail(std::move(let_in).error());
  }
  amqp_channel_open(connection.get(), kChannel);
  if (Result<> opened = connection.checked("to open a channel"); !opened) {
    return fail(std::move(opened).error());
  }
  return connection;
}

Result<> Connection::open_socket(const SourceSettings& settings, const Address& address,
                                 Deadline deadline) {
  amqp_socket_t* socket = new_socket(get(), settings, address.tls);
  if (socket == nullptr) {
    return fail(
        ErrorCode::kInvalid,
        "the file of tls_ca cannot be read: it must have certificates of authorities in PEM");
  }
  const Endpoint& endpoint = address.endpoints.front();
  const timeval limit = until(deadline);
  const int status = amqp_socket_open_noblock(socket, endpoint.host.c_str(), endpoint.port, &limit);
  if (status != AMQP_STATUS_OK) return fail(translate_status(status, "at " + where(address)));
  bound_writes(amqp_get_sockfd(get()), settings.heartbeat);
  return {};
}

Result<> Connection::log_in(const SourceSettings& settings, const Address& address) {
  const auto heartbeat_s = std::chrono::ceil<std::chrono::seconds>(settings.heartbeat).count();
  const std::string user = address.user.empty() ? "guest" : address.user;
  const std::string password = address.user.empty() ? "guest" : address.password;
  const std::string virtual_host = address.path.empty() ? "/" : address.path;
  const amqp_rpc_reply_t reply =
      amqp_login(get(), virtual_host.c_str(), 0, kFrameMax, static_cast<int>(heartbeat_s),
                 AMQP_SASL_METHOD_PLAIN, user.c_str(), password.c_str());
  return check(reply, "to log in at " + where(address));
}

void Connection::set_deadline(Deadline deadline) {
  const timeval limit = until(deadline);
  amqp_set_rpc_timeout(get(), &limit);
  amqp_set_handshake_timeout(get(), &limit);
}

Result<> Connection::checked(std::string_view doing) const {
  return check(amqp_get_rpc_reply(get()), doing);
}

Result<amqp_frame_t> Connection::next_frame(Deadline deadline) {
  amqp_frame_t frame{};
  const timeval limit = until(deadline);
  const int status = amqp_simple_wait_frame_noblock(get(), &frame, &limit);
  if (status != AMQP_STATUS_OK) return fail(translate_status(status, "in time"));
  return frame;
}

void Connection::close(Deadline deadline) {
  if (!handle_) return;
  set_deadline(deadline);
  // Whatever they answer, it is over.
  (void)amqp_channel_close(get(), kChannel, AMQP_REPLY_SUCCESS);
  (void)amqp_connection_close(get(), AMQP_REPLY_SUCCESS);
  handle_.reset();
}

}  // namespace recourse::message::rabbitmq

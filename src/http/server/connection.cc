#include "http/server/connection.h"

#include <algorithm>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/post.hpp>
#include <utility>

#include "http/server/message_of.h"

namespace recourse::http {
namespace {

using Progress = RequestReader::Progress;

constexpr std::size_t kReadBytes = std::size_t{16} * 1024;
// How long, and how much, a client may still send to whom all was said. Whoever writes a body a few
// times too large reads the answer only then: closing on unread bytes would take it away from them.
constexpr Duration kLingerFor = std::chrono::seconds(1);
constexpr std::size_t kLingerBytes = std::size_t{4} * 1024 * 1024;

}  // namespace

Connection::Connection(Socket socket, Serving& serving, Connections& connections, Welcome welcome)
    : serving_(serving),
      connections_(connections),
      welcome_(welcome),
      strand_(socket.get_executor()),
      wire_(std::move(socket), serving.tls ? &*serving.tls : nullptr),
      peer_(wire_.peer()),
      deadline_(strand_,
                [this] {
                  wire_.cancel();
                  signal_.raise();
                }),
      signal_(strand_),
      input_(std::max(kReadBytes, serving.settings.header_bytes_max)),
      reader_({.header_bytes_max = serving.settings.header_bytes_max,
               .body_bytes_max = serving.settings.body_bytes_max}) {}

void Connection::start() {
  deadline_.belong_to(weak_from_this());
  asio::co_spawn(
      strand_, [this] { return run(); },
      [self = shared_from_this()](const std::exception_ptr& thrown) { self->end(thrown); });
}

void Connection::end(const std::exception_ptr& thrown) {
  if (thrown) {
    serving_.log.error("http_connection_failed", {{"peer", peer_}, {"error", message_of(thrown)}});
  }
  is_cut_ = true;
  if (exchange_) exchange_->leave();
  deadline_.stop();
  wire_.close();
  connections_.remove(*this);
}

void Connection::finish() {
  asio::post(strand_, [self = shared_from_this()] {
    self->is_finishing_ = true;
    const bool is_idle = self->phase_ == Phase::kBegun || self->phase_ == Phase::kIdle;
    if (is_idle) self->wire_.cancel();
    if (self->exchange_) self->exchange_->end_stream();
  });
}

void Connection::cut() {
  asio::post(strand_, [self = shared_from_this()] {
    self->is_cut_ = true;
    self->wire_.close();
    self->signal_.raise();
  });
}

void Connection::wake() {
  asio::post(strand_, [self = shared_from_this()] {
    // Where it is stuck in a write that its stream has overtaken, that write ends.
    if (self->exchange_->is_overrun()) self->wire_.cancel();
    self->signal_.raise();
  });
}

Awaitable<> Connection::run() {
  if (wire_.is_encrypted()) {
    deadline_.set(serving_.settings.read_within);
    const auto [error] = co_await wire_.handshake();
    if (error) {
      serving_.log.debug("http_handshake_failed", {{"peer", peer_}, {"error", error.message()}});
      co_return;
    }
  }
  if (is_served()) {
    co_await serve();
  } else {
    compose_refusal({.status = 503, .detail = "there are too many connections; come back soon"});
    co_await end_with_answer();
  }
}

Awaitable<> Connection::serve() {
  while (!is_cut_) {
    const Progress progress = reader_.advance(input_);
    switch (progress) {
      case Progress::kNotBegun:
      case Progress::kNeedsMore:
        if (may_read(progress)) {
          const auto [error, bytes] = co_await wire_.read_some(input_.room());
          input_.commit(bytes);
          if (!error) break;
        }
        co_await end_reading();
        co_return;
      case Progress::kSaysContinue:
        send_next("HTTP/1.1 100 Continue\r\n\r\n");
        if (!co_await flush()) co_return;
        break;
      case Progress::kWhole:
        if (is_answered_at_once()) break;
        if (!co_await answer()) co_return;
        break;
      case Progress::kRejected:
        compose_refusal(reader_.rejection());
        co_await end_with_answer();
        co_return;
    }
  }
}

bool Connection::may_read(Progress progress) {
  const ServerSettings& settings = serving_.settings;
  if (progress == Progress::kNeedsMore) {
    if (phase_ != Phase::kReading) deadline_.set(settings.read_within);
    phase_ = Phase::kReading;
  } else {
    if (is_finishing_) return false;
    // Who has just come wants something.
    if (phase_ == Phase::kBegun) deadline_.set(std::min(settings.read_within, settings.idle_for));
    if (phase_ == Phase::kAnswering) deadline_.set(settings.idle_for);
    phase_ = Phase::kIdle;
  }
  return !deadline_.has_passed();
}

Awaitable<> Connection::end_reading() {
  if (phase_ != Phase::kReading || !deadline_.has_passed() || is_cut_) co_return;
  compose_refusal({.status = 408, .detail = "the request took too long to arrive; send it again"});
  co_await end_with_answer();
}

Awaitable<> Connection::linger() {
  phase_ = Phase::kLingering;
  deadline_.set(kLingerFor);
  co_await wire_.say_goodbye();
  input_.consume(input_.view().size());
  std::size_t bytes_read = 0;
  while (bytes_read < kLingerBytes && !deadline_.has_passed() && !is_cut_) {
    const auto [error, bytes] = co_await wire_.read_raw(input_.room());
    if (error) co_return;
    bytes_read += bytes;
  }
}

void Connection::watch_peer() {
  if (std::exchange(is_watching_, true)) return;
  wire_.when_readable([self = shared_from_this()](error_code error) {
    self->is_watching_ = false;
    if (error || self->phase_ != Phase::kAnswering || !self->wire_.peer_is_gone()) return;
    // It may have closed its own side only, and still read: an answer is written all the same.
    self->peer_has_left_ = true;
    self->exchange_->abandon();
    self->signal_.raise();
  });
}

}  // namespace recourse::http

// The second half of a connection: how an answer leaves it.
#include <exception>
#include <utility>

#include "http/server/answer_head.h"
#include "http/server/connection.h"
#include "http/server/message_of.h"

namespace recourse::http {
namespace {

using Exchange = Responder::Exchange;
using News = Exchange::News;

constexpr std::string_view kLastChunk = "0\r\n\r\n";
constexpr std::size_t kKeptBytes = std::size_t{16} * 1024;
constexpr std::string_view kRetryAfterSeconds = "1";

}  // namespace

bool Connection::is_answered_at_once() {
  phase_ = Phase::kAnswering;
  Head head = reader_.take();
  is_head_request_ = head.request.method == Method::kHead;
  is_old_ = head.is_old;
  keeps_alive_ = head.keep_alive;
  is_composed_ = false;
  // One that only we hold serves again.
  if (!exchange_ || exchange_.use_count() > 1) exchange_ = std::make_shared<Exchange>();
  const Exchange::Pieces form = is_head_request_ ? Exchange::Pieces::kNone
                                : is_old_        ? Exchange::Pieces::kPlain
                                                 : Exchange::Pieces::kChunks;
  exchange_->open(*this, form, serving_.settings.stream_bytes_max);
  call_service(std::move(head));
  const News news = exchange_->news();
  if (news != News::kAnswer && news != News::kDropped) return false;
  compose(news);
  if (!write_now() || !keeps_alive_) return false;
  end_exchange();
  return true;
}

void Connection::call_service(Head head) {
  Responder responder(exchange_);
  if (head.asks_whole_server) {
    return std::move(responder).send(
        {.status = 204, .headers = {{"Allow", std::string(methods_there_are())}}});
  }
  head.request.peer = peer_;
  try {
    serving_.service(std::move(head.request), std::move(responder));
  } catch (...) {
    // The responder is gone with the call, which makes it a 500.
    serving_.log.error("http_service_threw", {{"error", message_of(std::current_exception())}});
  }
}

Awaitable<bool> Connection::answer() {
  if (!is_composed_) {
    News news = exchange_->news();
    if (news == News::kNone) news = co_await wait_for_answer();
    if (is_cut_) co_return false;
    if (news == News::kStream) {
      const bool is_whole = co_await stream();
      if (!is_whole) co_return false;
    } else {
      compose(news);
    }
  }
  if (!co_await flush()) co_return false;
  end_exchange();
  if (!keeps_alive_) co_await linger();
  co_return keeps_alive_;
}

void Connection::end_exchange() {
  exchange_->leave();
  response_ = {};
  if (out_.capacity() > kKeptBytes) out_ = {};
}

Awaitable<News> Connection::wait_for_answer() {
  deadline_.set(serving_.settings.answer_within);
  while (!is_cut_ && !deadline_.has_passed()) {
    const News news = exchange_->wait_for_news();
    if (news != News::kNone) co_return news;
    watch_peer();
    co_await signal_.wait();
  }
  co_return exchange_->news();
}

Awaitable<bool> Connection::stream() {
  response_ = exchange_->take();
  compose_head(true);
  const bool has_begun = co_await flush();
  if (!has_begun) co_return false;
  if (is_finishing_) exchange_->end_stream();
  const bool has_ended = co_await write_pieces();
  if (!has_ended) co_return false;
  if (!is_head_request_ && !is_old_) send_next(kLastChunk);
  co_return true;
}

Awaitable<bool> Connection::write_pieces() {
  while (!is_cut_ && !peer_has_left_) {
    out_.clear();
    const Exchange::Taken taken = exchange_->take_pieces(out_);
    if (taken.is_overrun) {
      serving_.log.debug("http_stream_cut", {{"peer", peer_}});
      co_return false;
    }
    if (!out_.empty()) {
      send_next(out_);
      const bool is_sent = co_await flush();
      if (!is_sent) co_return false;
    } else if (taken.has_ended) {
      co_return true;
    } else {
      deadline_.clear();
      watch_peer();
      co_await signal_.wait();
    }
  }
  co_return false;
}

Response Connection::refusal(const Rejection& rejection) {
  serving_.log.debug(
      "http_refused",
      {{"peer", peer_}, {"status", std::to_string(rejection.status)}, {"why", rejection.detail}});
  Response response = serving_.refusal(rejection.status, rejection.detail);
  response.status = rejection.status;
  if (rejection.status == 503 && !response.headers.find("Retry-After")) {
    response.headers.set("Retry-After", std::string(kRetryAfterSeconds));
  }
  if (!rejection.allow.empty()) response.headers.set("Allow", rejection.allow);
  return response;
}

void Connection::compose(News news) {
  switch (news) {
    case News::kAnswer: response_ = exchange_->take(); break;
    case News::kDropped:
      response_ = refusal({.status = 500, .detail = "the server did not answer the request"});
      break;
    case News::kNone:
      // Whoever still works on it can see that nobody waits.
      exchange_->leave();
      response_ = refusal({.status = 503, .detail = "the answer takes too long; try again later"});
      break;
    case News::kStream: break;
  }
  compose_head(false);
}

void Connection::compose_head(bool is_stream) {
  if (is_finishing_ || (is_stream && is_old_)) keeps_alive_ = false;
  const BodyForm form = !is_stream ? BodyForm::kLength
                        : is_old_  ? BodyForm::kUntilEnd
                                   : BodyForm::kChunked;
  const After after = !keeps_alive_ ? After::kClose
                      : is_old_     ? After::kKeepAliveSaid
                                    : After::kKeepAlive;
  out_.clear();
  write_head(response_, form, after, date_.at(serving_.clock.now()), out_);
  const bool sends_body = !is_stream && !is_head_request_ && has_body(response_.status);
  // One record, one packet: TLS would make two of two buffers.
  if (sends_body && wire_.is_encrypted()) out_ += response_.body;
  send_next(out_);
  if (sends_body && !wire_.is_encrypted()) unsent_[1] = asio::buffer(response_.body);
  is_composed_ = true;
}

void Connection::compose_refusal(const Rejection& rejection) {
  // None of it is left from the request before.
  is_head_request_ = reader_.is_for_head();
  is_old_ = false;
  keeps_alive_ = false;
  response_ = refusal(rejection);
  compose_head(false);
}

Awaitable<> Connection::end_with_answer() {
  const bool is_sent = co_await flush();
  if (is_sent) co_await linger();
}

void Connection::send_next(std::string_view text) {
  unsent_ = {asio::const_buffer(text.data(), text.size()), asio::const_buffer()};
}

bool Connection::write_now() {
  std::size_t written = wire_.write_now(unsent_);
  for (asio::const_buffer& piece : unsent_) {
    const std::size_t of_it = std::min(written, piece.size());
    piece += of_it;
    written -= of_it;
  }
  return asio::buffer_size(unsent_) == 0;
}

Awaitable<bool> Connection::flush() {
  if (write_now()) co_return true;
  deadline_.set(serving_.settings.write_within);
  const auto [error, bytes] = co_await wire_.write(unsent_);
  unsent_ = {};
  co_return !error && !is_cut_;
}

}  // namespace recourse::http

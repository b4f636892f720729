// One connection: a coroutine on a strand that reads a request, hands it to the service, writes the
// answer, and only then looks at the next. So answers keep the order of their requests, and a
// client that sends many at once has no more of them here than one buffer holds.
//
// The way of a request that is answered at once passes a single co_await, that of the read: all
// else of it is plain calls, and the answer leaves in one write.
//
// Coroutines here take no parameters that own anything: GCC 12 destroys temporaries of a co_await
// expression twice.
//
// Invariants
//   1. Whatever ends the connection, the exchange is left before the connection is gone.
//   2. A refusal is written before the connection closes, and the client is given time to read it:
//      closing over unread bytes would reset the connection and take the answer with it.
//   3. Every wait is bounded, by one deadline at a time; except a stream's wait for its next piece,
//      during which the client is watched.
#pragma once

#include <array>
#include <cstdint>
#include <exception>
#include <memory>
#include <span>
#include <string>

#include "http/server/connections.h"
#include "http/server/deadline.h"
#include "http/server/exchange.h"
#include "http/server/http_date.h"
#include "http/server/request_reader.h"
#include "http/server/serving.h"
#include "http/server/signal.h"
#include "http/server/wire.h"

namespace recourse::http {

// Thread safety: start(), finish(), cut() and wake() from any thread; all else on the strand.
class Connection final : public std::enable_shared_from_this<Connection>, private Waker {
 public:
  enum class Welcome : std::uint8_t {
    kServed,
    kTurnedAway,  // there are too many: it is told so, and closed
  };
  Connection(Socket socket, Serving& serving, Connections& connections, Welcome welcome);

  // It lives until it ends; then it takes itself out of the connections.
  void start();
  // Ends now where it is idle, or else after the answer that is under way; streams end too.
  void finish();
  // Ends now.
  void cut();
  [[nodiscard]] bool is_served() const { return welcome_ == Welcome::kServed; }

 private:
  enum class Phase : std::uint8_t { kBegun, kIdle, kReading, kAnswering, kLingering };

  Awaitable<> run();
  Awaitable<> serve();
  void end(const std::exception_ptr& thrown);

  // False: read no more.
  bool may_read(RequestReader::Progress progress);
  // Says 408 where it was the client's slowness that ended the reading.
  Awaitable<> end_reading();

  // Hands the request to the service. True: the answer is written, and the next may come.
  bool is_answered_at_once();
  void call_service(Head head);
  // The rest of it, where it was not. False: the connection ends.
  Awaitable<bool> answer();
  Awaitable<Responder::Exchange::News> wait_for_answer();
  Awaitable<bool> stream();
  Awaitable<bool> write_pieces();

  void compose(Responder::Exchange::News news);
  void compose_head(bool is_stream);
  Response refusal(const Rejection& rejection);
  void compose_refusal(const Rejection& rejection);
  // Writes what is composed, and closes when the client has had time to read it.
  Awaitable<> end_with_answer();
  void send_next(std::string_view text);
  // What the socket takes without waiting. True: that was all.
  bool write_now();
  Awaitable<bool> flush();
  // Gives back what the answer held; an idle connection is small.
  void end_exchange();
  Awaitable<> linger();

  void wake() override;
  void watch_peer();

  Serving& serving_;
  Connections& connections_;
  const Welcome welcome_;
  const Strand strand_;
  Wire wire_;
  const std::string peer_;
  Deadline deadline_;
  Signal signal_;
  Phase phase_ = Phase::kBegun;
  bool is_finishing_ = false;
  bool is_cut_ = false;
  bool is_watching_ = false;
  bool peer_has_left_ = false;

  ReadBuffer input_;
  RequestReader reader_;
  // Of the request under way.
  std::shared_ptr<Responder::Exchange> exchange_;
  bool is_head_request_ = false;
  bool is_old_ = false;
  bool keeps_alive_ = true;
  bool is_composed_ = false;
  // What is being written: both stay as they are until unsent_ is empty.
  Response response_;
  std::string out_;
  std::array<asio::const_buffer, 2> unsent_ = {};
  DateLine date_;
};

}  // namespace recourse::http

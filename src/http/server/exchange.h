// One request's answer on its way from the service, on any thread, to the connection, on its
// strand.
//
// Invariants
//   1. It is answered at most once; what comes later is dropped.
//   2. The connection is woken only between wait_for_news() and news, and never after leave(): a
//      service may hold its Responder for longer than there is a server.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/mutex.h"
#include "http/server.h"

namespace recourse::http {

// The connection's bell. Rung under the exchange's lock: it may only post.
class Waker {
 public:
  virtual ~Waker() = default;
  virtual void wake() = 0;
};

// Safe to use from any thread.
class Responder::Exchange {
 public:
  // The service's side.
  void answer(Response response);
  void begin_stream(Response head);
  // False: nobody reads any more.
  bool write(std::string_view piece);
  void end_stream();
  // The last Responder is gone.
  void drop();
  [[nodiscard]] bool is_abandoned() const;

  // The connection's side.
  enum class News : std::uint8_t { kNone, kAnswer, kStream, kDropped };
  // How the pieces of a stream go out: as they are, framed as chunks, or, by HEAD, not at all.
  enum class Pieces : std::uint8_t { kPlain, kChunks, kNone };
  void open(Waker& waker, Pieces form, std::size_t stream_bytes_max);
  [[nodiscard]] News news() const;
  // As news(); the waker is called when there is some later.
  News wait_for_news();
  // The answer, or the stream's head.
  Response take();
  struct Taken {
    bool has_ended = false;   // nothing follows
    bool is_overrun = false;  // more was waiting than may wait
  };
  // Into `out`, which must be empty; what was taken before counts as written. The waker is called
  // when there is more, where there is none now.
  Taken take_pieces(std::string& out);
  [[nodiscard]] bool is_overrun() const;
  // Nobody reads any more, though the connection stands.
  void abandon();
  void leave();

 private:
  void ring() REQUIRES(mutex_);

  mutable Mutex mutex_;
  Waker* waker_ GUARDED_BY(mutex_) = nullptr;
  News news_ GUARDED_BY(mutex_) = News::kNone;
  bool is_awaited_ GUARDED_BY(mutex_) = false;
  bool is_abandoned_ GUARDED_BY(mutex_) = false;
  Response response_ GUARDED_BY(mutex_);
  Pieces form_ GUARDED_BY(mutex_) = Pieces::kChunks;
  std::string waiting_ GUARDED_BY(mutex_);
  std::size_t being_written_ GUARDED_BY(mutex_) = 0;
  std::size_t stream_bytes_max_ GUARDED_BY(mutex_) = 0;
  bool has_ended_ GUARDED_BY(mutex_) = false;
  bool is_overrun_ GUARDED_BY(mutex_) = false;
};

}  // namespace recourse::http

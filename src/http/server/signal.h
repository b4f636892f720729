// Lets one coroutine wait until it is called.
//
// Thread safety: on the strand only.
#pragma once

#include <utility>

#include "http/server/asio.h"

namespace recourse::http {

class Signal {
 public:
  explicit Signal(const Strand& strand) : never_(strand, Timer::time_point::max()) {}

  // A call that came before is not lost.
  Awaitable<> wait() {
    while (!std::exchange(is_raised_, false)) co_await never_.async_wait(kAwait);
  }
  void raise() {
    is_raised_ = true;
    never_.cancel();
  }

 private:
  // Asio has no plainer thing to wait for; one that never goes off costs a place in a heap.
  Timer never_;
  bool is_raised_ = false;
};

}  // namespace recourse::http

// Ends connections whose time is over, from a thread of its own: whoever has one may hang in code
// that is not ours, with a transaction open. Its socket is shut down, the server finds that at once
// and rolls back, and nobody waits for locks that no one will give up.
//
// Thread safety: safe to call from any thread.
#pragma once

#include <chrono>
#include <map>
#include <memory>
#include <thread>

#include "base/mutex.h"
#include "sql/second_socket.h"

namespace recourse::store::relational {

class Cutter {
 public:
  using Instant = std::chrono::steady_clock::time_point;

  Cutter() = default;
  ~Cutter();
  Cutter(const Cutter&) = delete;
  Cutter& operator=(const Cutter&) = delete;

  // From its making to its end. A socket of -1 is not watched.
  class Watch {
   public:
    Watch(Cutter& cutter, int socket, Instant until);
    ~Watch();
    Watch(const Watch&) = delete;
    Watch& operator=(const Watch&) = delete;

   private:
    Cutter& cutter_;
    const sql::SecondSocket socket_;
    const Instant until_;
  };

 private:
  void add(const sql::SecondSocket& socket, Instant until);
  void remove(const sql::SecondSocket& socket, Instant until);
  void run();

  Mutex mutex_;
  ConditionVariable changed_;
  std::multimap<Instant, const sql::SecondSocket*> watched_ GUARDED_BY(mutex_);
  // When the thread looks next. It is woken only for what comes earlier: of many that live briefly,
  // none wakes it.
  Instant looks_at_ GUARDED_BY(mutex_) = Instant::max();
  bool ending_ GUARDED_BY(mutex_) = false;
  // Started when there is something to watch.
  std::thread thread_ GUARDED_BY(mutex_);
};

}  // namespace recourse::store::relational

// Wakes messages that wait behind an older one of their key, once that has ended: at once where it
// ended on this node, about a second later where a person or another node has ended it. Nothing
// depends on it: whoever waits looks by itself too, but with pauses that grow, so that those behind
// a head which waits for a person for days are not written to all the time.
//
// Costs one read a second for each head that is waited for, kHeadsAtOnce at most, and one write for
// each message that is woken.
//
// Thread safety: safe to use from any thread.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <set>
#include <thread>
#include <vector>

#include "base/mutex.h"
#include "base/time.h"
#include "engine/core/happening.h"
#include "message/waiting_line.h"
#include "store/opened.h"

namespace recourse::message {

class OrderWatch {
 public:
  static constexpr std::size_t kWaitsMax = 100'000;
  static constexpr std::size_t kHeadsAtOnce = 50;

  // Both must last until join(). `hint`: there is work now.
  OrderWatch(store::OpenedStore& opened, std::function<void()> hint);
  ~OrderWatch() {
    stop();
    join();
  }
  OrderWatch(const OrderWatch&) = delete;
  OrderWatch& operator=(const OrderWatch&) = delete;

  // It was put off.
  void waits(const WaitingLine::Wait& wait);
  // Its turn has come.
  void runs(task::TaskId task);
  // On the engine's thread: waits for nothing.
  void moved(const engine::Moved& moved);
  // Wakes nobody from then on; waits for nothing.
  void stop();
  // After stop(); once.
  void join() {
    if (thread_.joinable()) thread_.join();
  }

 private:
  void run();
  // Waits until there is somebody to wake, or it is time to look; empty at the end.
  std::optional<std::vector<task::TaskId>> next();
  // Those behind heads of which this node has not heard that they have ended.
  void look();
  void free(task::TaskId head, task::State state) REQUIRES(mutex_);
  void wake(const std::vector<task::TaskId>& tasks);

  store::OpenedStore& opened_;
  const std::function<void()> hint_;
  Mutex mutex_;
  ConditionVariable changed_;
  WaitingLine line_ GUARDED_BY(mutex_){kWaitsMax};
  // Who is to be woken.
  std::set<task::TaskId> free_ GUARDED_BY(mutex_);
  bool closing_ GUARDED_BY(mutex_) = false;
  std::thread thread_;
};

}  // namespace recourse::message

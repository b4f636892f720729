// Sends letters on threads of its own, so that nobody who fires a notice ever waits for a channel.
//
// send_queue.h says which letter goes next; here are the threads that carry it out. A letter
// between two tries holds none of them.
//
// Safe to use from any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <list>
#include <memory>
#include <stop_token>
#include <thread>
#include <vector>

#include "base/clock.h"
#include "base/mutex.h"
#include "notify/channel.h"
#include "notify/send_queue.h"

namespace recourse::notify {

class Dispatcher {
 public:
  // The settings must be valid; the clock must outlive it. A letter's channel is a place in the
  // list.
  Dispatcher(const DispatchSettings& settings, std::vector<std::shared_ptr<Channel>> channels,
             const Clock& clock);
  // Stops at once, and waits for the sends that are out: as long as their channels may take.
  ~Dispatcher();
  Dispatcher(const Dispatcher&) = delete;
  Dispatcher& operator=(const Dispatcher&) = delete;

  // False: no room, or stopped; the letter's `ended` is not called then. Otherwise it is called
  // once, on one of the dispatcher's threads or the one that stops it, and must not block.
  [[nodiscard]] bool offer(Letter letter);

  // Sends what waits for at most `within`, then gives up the rest and asks the sends that are out
  // to end, for which it waits a second more. A channel that does not listen is left behind: its
  // letter ends when it returns.
  void stop(Duration within);

  struct Use {
    std::size_t waiting = 0;
    int out = 0;
    std::size_t threads = 0;
    std::uint64_t refused = 0;
  };
  [[nodiscard]] Use use() const;
  [[nodiscard]] policy::BreakerState breaker_state(std::size_t channel) const;

  // For tests that move a clock by hand.
  void look_again() { changed_.notify_all(); }

 private:
  using Lines = std::vector<SendQueue::Ended>;

  void work();
  void carry_out(SendQueue::Try attempt);
  Result<> send(const Letter& letter) const;
  // True: this thread is spare and ends.
  bool wait_for_work() REQUIRES(mutex_);
  void add_thread_if_needed() REQUIRES(mutex_);
  void join_ended() REQUIRES(mutex_);
  bool wait_until_idle(std::chrono::steady_clock::time_point deadline) REQUIRES(mutex_);
  static void tell(const Lines& ended);

  const DispatchSettings settings_;
  const std::vector<std::shared_ptr<Channel>> channels_;
  const SteadyTime time_;
  std::stop_source stop_sending_;

  mutable Mutex mutex_;
  ConditionVariable changed_;
  ConditionVariable idle_changed_;
  SendQueue queue_ GUARDED_BY(mutex_);
  std::list<std::thread> threads_ GUARDED_BY(mutex_);
  std::list<std::thread> ended_ GUARDED_BY(mutex_);
  std::size_t idle_ GUARDED_BY(mutex_) = 0;
  // Sending, or telling how it went.
  std::size_t busy_ GUARDED_BY(mutex_) = 0;
  std::uint64_t refused_ GUARDED_BY(mutex_) = 0;
  // No more letters are taken.
  bool closed_ GUARDED_BY(mutex_) = false;
  // Threads end when nothing is left.
  bool ending_ GUARDED_BY(mutex_) = false;
};

}  // namespace recourse::notify

// Events on their way to the core, from any thread. The core takes all that have come, at once.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <utility>
#include <vector>

#include "base/mutex.h"
#include "base/time.h"
#include "engine/core/event.h"

namespace recourse::engine {

// Safe to call from any thread; one thread takes.
class Inbox {
 public:
  enum class Wake : std::uint8_t {
    kNow,
    kLater,  // somebody else is about to, or the taker's own patience ends soon
  };

  // False: nobody takes any more.
  bool put(Event event, Wake when = Wake::kNow) {
    bool wake = false;
    {
      MutexLock lock(mutex_);
      if (closed_) return false;
      if (when == Wake::kNow) wake = std::exchange(asleep_, false);
      events_.push_back(std::move(event));
    }
    if (wake) arrived_.notify_one();
    return true;
  }

  // Wakes the taker for what was put lazily.
  void nudge() {
    bool wake = false;
    {
      MutexLock lock(mutex_);
      wake = !events_.empty() && std::exchange(asleep_, false);
    }
    if (wake) arrived_.notify_one();
  }

  // The taker comes back soon, though there may be nothing for it.
  void wake() {
    {
      MutexLock lock(mutex_);
      woken_ = true;
      asleep_ = false;
    }
    arrived_.notify_one();
  }

  // Waits until something comes, for `patience` at most. `into` is emptied; its memory is reused.
  void take(std::vector<Event>& into, Duration patience) {
    into.clear();
    MutexLock lock(mutex_);
    if (events_.empty() && !woken_ && patience > Duration::zero()) {
      asleep_ = true;
      if (patience >= kLongestWait) {
        while (asleep_) arrived_.wait(mutex_);
      } else {
        const auto until = std::chrono::steady_clock::now() + patience;
        while (asleep_) {
          if (arrived_.wait_until(mutex_, until) == std::cv_status::timeout) break;
        }
      }
      asleep_ = false;
    }
    woken_ = false;
    std::swap(into, events_);
  }

  // What comes later is not taken; answers with what came before.
  std::vector<Event> close() {
    MutexLock lock(mutex_);
    closed_ = true;
    return std::move(events_);
  }

 private:
  Mutex mutex_;
  ConditionVariable arrived_;
  std::vector<Event> events_ GUARDED_BY(mutex_);
  bool asleep_ GUARDED_BY(mutex_) = false;
  // Kept until the taker has come back: it may be on its way to sleep.
  bool woken_ GUARDED_BY(mutex_) = false;
  bool closed_ GUARDED_BY(mutex_) = false;
};

}  // namespace recourse::engine

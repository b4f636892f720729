// Does something small every now and then, on a thread of its own.
#pragma once

#include <functional>
#include <thread>
#include <utility>

#include "base/mutex.h"
#include "base/time.h"

namespace recourse::app {

class Pulse {
 public:
  Pulse(Duration every, std::function<void()> beat)
      : every_(every), beat_(std::move(beat)), thread_([this] { run(); }) {}
  ~Pulse() {
    {
      MutexLock lock(mutex_);
      closing_ = true;
    }
    changed_.notify_all();
    thread_.join();
  }
  Pulse(const Pulse&) = delete;
  Pulse& operator=(const Pulse&) = delete;

 private:
  void run() {
    while (true) {
      {
        MutexLock lock(mutex_);
        if (!closing_) changed_.wait_for(mutex_, every_);
        if (closing_) return;
      }
      beat_();
    }
  }

  const Duration every_;
  const std::function<void()> beat_;
  Mutex mutex_;
  ConditionVariable changed_;
  bool closing_ GUARDED_BY(mutex_) = false;
  std::thread thread_;
};

}  // namespace recourse::app

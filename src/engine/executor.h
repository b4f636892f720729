// The threads that call handlers. It grows before it queues: a kind whose handlers hang takes the
// threads its lane allows, and others find free ones. Idle threads beyond the core size end.
#pragma once

#include <cstddef>
#include <deque>
#include <functional>
#include <list>
#include <thread>

#include "base/mutex.h"
#include "engine/core/settings.h"

namespace recourse::engine {

// Safe to call from any thread.
class Executor {
 public:
  explicit Executor(const ExecutorSettings& settings) : settings_(settings) {}
  // Waits for all that run; what is still queued is run too.
  ~Executor();
  Executor(const Executor&) = delete;
  Executor& operator=(const Executor&) = delete;

  using Job = std::function<void()>;
  // Never blocks and never refuses: whoever hands over keeps to the bounds. Where the caller is to
  // run what fits nowhere, one more thread stands for it.
  void run(Job job);

  struct Use {
    int threads = 0;
    int busy = 0;
    std::size_t queued = 0;
  };
  [[nodiscard]] Use use() const;

 private:
  void work();
  [[nodiscard]] std::size_t threads_max() const;
  void join_ended() REQUIRES(mutex_);

  const ExecutorSettings settings_;
  mutable Mutex mutex_;
  ConditionVariable changed_;
  std::deque<Job> queue_ GUARDED_BY(mutex_);
  std::list<std::thread> threads_ GUARDED_BY(mutex_);
  std::list<std::thread> ended_ GUARDED_BY(mutex_);
  std::size_t idle_ GUARDED_BY(mutex_) = 0;
  bool closing_ GUARDED_BY(mutex_) = false;
};

}  // namespace recourse::engine

#include "engine/executor.h"

#include <algorithm>
#include <chrono>
#include <system_error>
#include <utility>

#include "base/thread_name.h"

namespace recourse::engine {

void Executor::run(Job job) {
  {
    MutexLock lock(mutex_);
    join_ended();
    queue_.push_back(std::move(job));
    if (!closing_ && queue_.size() > idle_ && threads_.size() < threads_max()) {
      try {
        threads_.emplace_back([this] { work(); });
        return;  // the new thread looks for itself
      } catch (const std::system_error&) {
        // The machine has no more: what waits is run by those there are, or handed over again.
      }
    }
  }
  changed_.notify_one();
}

std::size_t Executor::threads_max() const {
  return static_cast<std::size_t>(settings_.max_threads) +
         (settings_.rejection == Rejection::kCallerRuns ? 1 : 0);
}

void Executor::work() {
  name_this_thread("executor");
  mutex_.lock();
  while (true) {
    if (queue_.empty() && !closing_) {
      ++idle_;
      const auto until = std::chrono::steady_clock::now() + settings_.keep_alive;
      bool woken = true;
      while (queue_.empty() && !closing_ && woken) {
        woken = changed_.wait_until(mutex_, until) != std::cv_status::timeout;
      }
      --idle_;
    }
    if (queue_.empty()) {
      const bool spare = threads_.size() > static_cast<std::size_t>(settings_.core_threads);
      if (closing_ || spare) break;
      continue;
    }
    Job job = std::move(queue_.front());
    queue_.pop_front();
    mutex_.unlock();
    job();
    job = nullptr;  // what it holds goes before the next is waited for
    mutex_.lock();
  }
  if (!closing_) {
    const auto self = std::ranges::find(threads_, std::this_thread::get_id(), &std::thread::get_id);
    ended_.splice(ended_.end(), threads_, self);
  }
  mutex_.unlock();
}

void Executor::join_ended() {
  for (std::thread& thread : ended_) thread.join();
  ended_.clear();
}

Executor::~Executor() {
  std::list<std::thread> all;
  {
    MutexLock lock(mutex_);
    closing_ = true;
    all.splice(all.end(), threads_);
    all.splice(all.end(), ended_);
  }
  changed_.notify_all();
  for (std::thread& thread : all) thread.join();
}

Executor::Use Executor::use() const {
  MutexLock lock(mutex_);
  return {.threads = static_cast<int>(threads_.size()),
          .busy = static_cast<int>(threads_.size() - idle_),
          .queued = queue_.size()};
}

}  // namespace recourse::engine

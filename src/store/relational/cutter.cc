#include "store/relational/cutter.h"

#include "base/thread_name.h"

namespace recourse::store::relational {

Cutter::Watch::Watch(Cutter& cutter, int socket, Instant until)
    : cutter_(cutter), socket_(socket), until_(until) {
  if (socket_.is_there()) cutter_.add(socket_, until_);
}

Cutter::Watch::~Watch() {
  if (socket_.is_there()) cutter_.remove(socket_, until_);
}

Cutter::~Cutter() {
  std::thread thread;
  {
    const MutexLock lock(mutex_);
    ending_ = true;
    thread = std::move(thread_);
  }
  changed_.notify_all();
  if (thread.joinable()) thread.join();
}

void Cutter::add(const sql::SecondSocket& socket, Instant until) {
  const MutexLock lock(mutex_);
  if (!thread_.joinable()) thread_ = std::thread([this] { run(); });
  watched_.emplace(until, &socket);
  if (until < looks_at_) changed_.notify_all();
}

void Cutter::remove(const sql::SecondSocket& socket, Instant until) {
  const MutexLock lock(mutex_);
  auto [it, end] = watched_.equal_range(until);
  while (it != end && it->second != &socket) ++it;
  if (it != end) watched_.erase(it);
}

void Cutter::run() {
  name_this_thread("cutter");
  mutex_.lock();
  while (!ending_) {
    if (watched_.empty()) {
      looks_at_ = Instant::max();
      changed_.wait(mutex_);
      continue;
    }
    const auto first = watched_.begin();
    if (first->first <= std::chrono::steady_clock::now()) {
      // Under the lock: while it is watched the name is not closed.
      first->second->shut_down();
      watched_.erase(first);
      continue;
    }
    looks_at_ = first->first;
    changed_.wait_until(mutex_, looks_at_);
  }
  mutex_.unlock();
}

}  // namespace recourse::store::relational

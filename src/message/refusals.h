// Which messages were refused already. The broker delivers them again every half minute, for as
// long as nobody deletes them there: each is told of and counted once.
//
// Bounded: beyond kKept the oldest are forgotten, and told of again.
//
// Thread safety: safe to use from any thread.
#pragma once

#include <cstddef>
#include <deque>
#include <set>

#include "base/mutex.h"
#include "store/inbox.h"

namespace recourse::message {

class Refusals {
 public:
  static constexpr std::size_t kKept = 10'000;

  // False: it is known.
  bool add(const store::MessageKey& key) {
    const MutexLock lock(mutex_);
    const auto [place, is_new] = known_.insert(key);
    if (!is_new) return false;
    by_age_.push_back(place);
    if (by_age_.size() > kKept) {
      known_.erase(by_age_.front());
      by_age_.pop_front();
    }
    return true;
  }

 private:
  Mutex mutex_;
  std::set<store::MessageKey> known_ GUARDED_BY(mutex_);
  // Oldest first.
  std::deque<std::set<store::MessageKey>::iterator> by_age_ GUARDED_BY(mutex_);
};

}  // namespace recourse::message

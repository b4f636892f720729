// Which messages this process has in its hands, and what it knows of those that it has handled but
// could not mark: their handlers are not run again when they come again.
//
// Thread safety: safe to use from any thread.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "base/mutex.h"
#include "base/time.h"
#include "message/failed_run.h"
#include "store/inbox.h"

namespace recourse::message {

// How a handler's run ended, before it is written down.
struct Ran {
  // By the store's clock.
  TimePoint started_at = {};
  TimePoint ended_at = {};
  // Empty: it is done, or it was not run because older ones of its key come first.
  std::optional<FailedRun> failed = std::nullopt;
  bool waits = false;
  std::string business_id = {};
};

class InFlight {
 public:
  // False: somebody has it already.
  bool take(const store::MessageKey& key) {
    const MutexLock lock(mutex_);
    return taken_.insert(key.value).second;
  }
  void release(const store::MessageKey& key) {
    const MutexLock lock(mutex_);
    taken_.erase(key.value);
  }

  // By whoever has it.
  void remember(const store::MessageKey& key, Ran ran) {
    const MutexLock lock(mutex_);
    if (unmarked_.size() < kUnmarkedMax) unmarked_.insert_or_assign(key.value, std::move(ran));
  }
  std::optional<Ran> recall(const store::MessageKey& key) {
    const MutexLock lock(mutex_);
    const auto found = unmarked_.find(key.value);
    if (found == unmarked_.end()) return std::nullopt;
    std::optional<Ran> ran = std::move(found->second);
    unmarked_.erase(found);
    return ran;
  }

 private:
  // Beyond them a handler is run again: the store has been away for long.
  static constexpr std::size_t kUnmarkedMax = 10'000;

  Mutex mutex_;
  std::unordered_set<std::string> taken_ GUARDED_BY(mutex_);
  std::unordered_map<std::string, Ran> unmarked_ GUARDED_BY(mutex_);
};

}  // namespace recourse::message

// Which messages this process has in its hands, and what it knows of those that it has handled but
// could not mark: their handlers are not run again when they come again.
//
// Thread safety: safe to use from any thread.
#pragma once

#include <cstddef>
#include <iterator>
#include <list>
#include <optional>
#include <string>
#include <string_view>
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
  // Of one that shares a transaction: it got that far.
  bool was_called = false;
  std::string business_id = {};
  // The mark that may be there, of a write whose outcome is not known.
  std::optional<store::Seen> offered = std::nullopt;
};

class InFlight {
 public:
  // False: somebody has it already. The key stays where it is until it is released.
  bool take(const store::MessageKey& key) {
    const MutexLock lock(mutex_);
    return taken_.insert(key.value).second;
  }
  void release(const store::MessageKey& key) {
    const MutexLock lock(mutex_);
    taken_.erase(key.value);
  }

  // Beyond them the oldest are forgotten, and their handlers run again: the store has been away for
  // long.
  static constexpr std::size_t kUnmarkedMax = 10'000;

  // By whoever has it.
  void remember(const store::MessageKey& key, Ran ran) {
    const MutexLock lock(mutex_);
    (void)take_out(key.value);
    if (unmarked_.size() == kUnmarkedMax) (void)take_out(by_age_.front().key);
    by_age_.push_back({.key = key.value, .ran = std::move(ran)});
    unmarked_.emplace(by_age_.back().key, std::prev(by_age_.end()));
  }
  std::optional<Ran> recall(const store::MessageKey& key) {
    const MutexLock lock(mutex_);
    return take_out(key.value);
  }

 private:
  struct Unmarked {
    std::string key;
    Ran ran;
  };

  std::optional<Ran> take_out(std::string_view key) REQUIRES(mutex_) {
    const auto found = unmarked_.find(key);
    if (found == unmarked_.end()) return std::nullopt;
    const auto place = found->second;
    std::optional<Ran> ran = std::move(place->ran);
    unmarked_.erase(found);
    by_age_.erase(place);
    return ran;
  }

  Mutex mutex_;
  std::unordered_set<std::string_view> taken_ GUARDED_BY(mutex_);
  // Oldest first.
  std::list<Unmarked> by_age_ GUARDED_BY(mutex_);
  // By keys that the list holds.
  std::unordered_map<std::string_view, std::list<Unmarked>::iterator> unmarked_ GUARDED_BY(mutex_);
};

}  // namespace recourse::message

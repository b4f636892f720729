// Which messages this process has in its hands, and what it knows of those that it has handled but
// could not mark: their handlers are not run again when they come again.
//
// Thread safety: safe to use from any thread.
#pragma once

#include <chrono>
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
  // How often the message had been published again.
  int replays = 0;
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
    by_age_.push_back({.key = key.value, .at = Clock::now(), .ran = std::move(ran)});
    unmarked_.emplace(by_age_.back().key, std::prev(by_age_.end()));
  }
  // Of this very message: one of its id that comes after so long, as its mark would have been kept,
  // or was published once more, is another.
  std::optional<Ran> recall(const store::MessageKey& key, int replays, Duration kept_for) {
    const MutexLock lock(mutex_);
    std::optional<Unmarked> unmarked = take_out(key.value);
    if (!unmarked || unmarked->ran.replays != replays) return std::nullopt;
    if (Clock::now() - unmarked->at > kept_for) return std::nullopt;
    return std::move(unmarked->ran);
  }

 private:
  using Clock = std::chrono::steady_clock;
  struct Unmarked {
    std::string key;
    Clock::time_point at;
    Ran ran;
  };

  std::optional<Unmarked> take_out(std::string_view key) REQUIRES(mutex_) {
    const auto found = unmarked_.find(key);
    if (found == unmarked_.end()) return std::nullopt;
    const auto place = found->second;
    unmarked_.erase(found);
    std::optional<Unmarked> unmarked = std::move(*place);
    by_age_.erase(place);
    return unmarked;
  }

  Mutex mutex_;
  std::unordered_set<std::string_view> taken_ GUARDED_BY(mutex_);
  // Oldest first.
  std::list<Unmarked> by_age_ GUARDED_BY(mutex_);
  // By keys that the list holds.
  std::unordered_map<std::string_view, std::list<Unmarked>::iterator> unmarked_ GUARDED_BY(mutex_);
};

}  // namespace recourse::message

#include "app/message_backlog.h"

#include <utility>

#include "task/state.h"

namespace recourse::app {
namespace {

// The broker's thread waits for it, and must be back soon.
constexpr Duration kCountWithin = std::chrono::seconds(1);
constexpr Duration kGoodFor = std::chrono::seconds(1);

}  // namespace

void MessageBacklog::refresh() {
  {
    MutexLock lock(mutex_);
    const auto now = Clock::now();
    if (asked_at_ && now - *asked_at_ < kGoodFor) return;
    // Others go by what is known meanwhile.
    asked_at_ = now;
  }
  const auto counts = reader_.counts(kCountWithin);
  if (!counts) return;
  std::map<std::string, std::int64_t> unfinished;
  for (const auto& [key, count] : *counts) {
    if (!task::is_finished(key.second) && !task::needs_person(key.second)) {
      unfinished[key.first.value] += count;
    }
  }
  MutexLock lock(mutex_);
  unfinished_ = std::move(unfinished);
}

bool MessageBacklog::has_reached(const std::string& kind, std::size_t limit) {
  refresh();
  MutexLock lock(mutex_);
  const auto found = unfinished_.find(kind);
  return found != unfinished_.end() && found->second >= static_cast<std::int64_t>(limit);
}

}  // namespace recourse::app

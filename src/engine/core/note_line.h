// What handlers say, on its way into the store: hints for people, so that they are bounded, sent
// one call at a time and not too often, and dropped where that fails.
//
// Thread safety: none; the core owns it.
#pragma once

#include <algorithm>
#include <cstddef>
#include <map>
#include <optional>
#include <vector>

#include "base/time.h"
#include "engine/core/event.h"
#include "store/work.h"

namespace recourse::engine {

// Of one attempt.
inline constexpr std::size_t kNotesWaitingMax = 16;

// For one more behind them: the oldest goes, but never the newest progress.
template <class Item, class HasProgress>
void make_room(std::vector<Item>& waiting, HasProgress has_progress) {
  if (waiting.size() < kNotesWaitingMax) return;
  const auto newest = std::find_if(waiting.rbegin(), waiting.rend(), has_progress);
  const bool is_first = newest != waiting.rend() && newest + 1 == waiting.rend();
  waiting.erase(waiting.begin() + (is_first ? 1 : 0));
}

class NoteLine {
 public:
  void add(AttemptId attempt, store::Jotting jotting);
  // Those of an attempt that ends: they go with its outcome. So do those that are out, because
  // the outcome may overtake them; the store recognises what it has.
  std::vector<store::Note> take_of(AttemptId attempt);
  void forget(AttemptId attempt) { (void)take_of(attempt); }

  // Empty while nothing waits, a call is out, or the last one was a moment ago.
  std::optional<std::vector<store::Jotting>> take(TimePoint now);
  void end() { out_.clear(); }

  [[nodiscard]] TimePoint next_wakeup() const {
    return waiting_.empty() || !out_.empty() ? kNever : not_before_;
  }

 private:
  using ByAttempt = std::map<AttemptId, std::vector<store::Jotting>>;

  ByAttempt waiting_;
  std::size_t count_ = 0;
  // In the call that is out.
  ByAttempt out_;
  TimePoint not_before_ = TimePoint::min();
};

}  // namespace recourse::engine

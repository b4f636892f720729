// Where to start looking for due tasks.
//
// While somebody holds a snapshot open (a backup, a forgotten transaction) PostgreSQL cannot remove
// the index entries of claimed tasks, and every claim walks over all of them: 46 ms instead of 0.06
// were measured. So once a claim was slow, the next ones start where the last one found its oldest.
// What this process writes with an older time takes the mark away. A task that another one commits
// late, or takes from a dead owner, would not be seen from there. Therefore the mark lasts ten
// seconds at most, and only one where a claim got less than it asked for: as long as there is room
// for it, no task waits longer for being hidden. Then one claim looks from the beginning again.
//
// Thread safety: safe to call from any thread.
#pragma once

#include <chrono>
#include <map>
#include <utility>

#include "base/mutex.h"
#include "base/time.h"
#include "task/ids.h"

namespace recourse::store::postgres {

class LowWater {
 public:
  using Clock = std::chrono::steady_clock;

  // A claim of 500 takes about 5 ms where nothing is in its way.
  static constexpr Clock::duration kSlow = std::chrono::milliseconds(12);

  explicit LowWater(Clock::duration slow = kSlow) : slow_(slow) {}

  // Where to start for this kind and priority; the beginning of time unless a mark is set.
  TimePoint start_of(const task::Kind& kind, int priority, Clock::time_point now);
  // The oldest that a claim found there.
  void found(const task::Kind& kind, int priority, TimePoint oldest);
  // Of this kind something becomes available at that time, and has to be seen.
  void put_back(const task::Kind& kind, TimePoint available_at);
  // How long a claim took.
  void took(Clock::duration duration, Clock::time_point now);
  // It got less than it asked for.
  void fell_short(Clock::time_point now);

 private:
  void expire(Clock::time_point now) REQUIRES(mutex_);

  const Clock::duration slow_;
  Mutex mutex_;
  Clock::time_point lasts_until_ GUARDED_BY(mutex_);
  std::map<std::pair<task::Kind, int>, TimePoint> marks_ GUARDED_BY(mutex_);
};

}  // namespace recourse::store::postgres

// Where to start looking for due tasks.
//
// While somebody holds a snapshot open (a backup, a forgotten transaction) PostgreSQL cannot remove
// the index entries of claimed tasks, and every claim walks over all of them: 46 ms instead of 0.06
// were measured. So once a claim was slow, the next ones start where the last one found its oldest.
// A task that commits late, or comes back, with an older time would not be seen from there;
// therefore the mark lasts ten seconds at most, and then one claim looks from the beginning again.
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

  // Where to start for this kind and priority; the beginning of time unless a mark is set.
  TimePoint start_of(const task::Kind& kind, int priority, Clock::time_point now);
  // The oldest that a claim found there.
  void found(const task::Kind& kind, int priority, TimePoint oldest);
  // How long a claim took.
  void took(Clock::duration duration, Clock::time_point now);

 private:
  void expire(Clock::time_point now) REQUIRES(mutex_);

  Mutex mutex_;
  Clock::time_point lasts_until_ GUARDED_BY(mutex_);
  std::map<std::pair<task::Kind, int>, TimePoint> marks_ GUARDED_BY(mutex_);
};

}  // namespace recourse::store::postgres

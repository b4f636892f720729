// Ids from a clock, for many threads: all of one source are ordered and distinct.
#pragma once

#include <cstdint>

#include "base/clock.h"
#include "base/mutex.h"
#include "base/ulid.h"

namespace recourse {

class UlidSource {
 public:
  UlidSource(const Clock& clock, std::uint64_t seed) : clock_(clock), sequence_(seed) {}

  Ulid next() {
    const TimePoint now = clock_.now();
    MutexLock lock(mutex_);
    return sequence_.next(now);
  }

 private:
  const Clock& clock_;
  Mutex mutex_;
  UlidSequence sequence_ GUARDED_BY(mutex_);
};

}  // namespace recourse

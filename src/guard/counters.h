// What a guard has done since its process began.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>

#include "base/mutex.h"
#include "base/time.h"

namespace recourse::guard {

// As metrics show it.
struct GuardCounters {
  std::uint64_t scans = 0;
  std::uint64_t scans_failed = 0;
  // All of them together.
  Duration scan_time = Duration::zero();
  // By a scan: the business had succeeded, and err_status did not say so.
  std::uint64_t healed_by_scan = 0;
  // Runs that ended in 2001.
  std::uint64_t healed_by_retry = 0;
  // Runs: check, handle and check.
  std::uint64_t retried = 0;
  std::uint64_t failed = 0;
  std::uint64_t not_claimed = 0;
  // Claimed, and somebody else's at the end.
  std::uint64_t lost = 0;
  // Given to a person.
  std::uint64_t escalated = 0;
  std::uint64_t reminded = 0;
  std::uint64_t reminders_failed = 0;
  // Rows in 4000 and 4001, as a scan has counted them within the last minutes.
  std::map<std::int32_t, std::int64_t> rows = {};
};

// Safe to use from any thread.
class Tally {
 public:
  using Count = std::atomic<std::uint64_t>;

  Count scans = 0;
  Count scans_failed = 0;
  Count healed_by_scan = 0;
  Count healed_by_retry = 0;
  Count retried = 0;
  Count failed = 0;
  Count not_claimed = 0;
  Count lost = 0;
  Count escalated = 0;
  Count reminded = 0;
  Count reminders_failed = 0;
  std::atomic<Duration::rep> scan_time = 0;

  void set_rows(std::map<std::int32_t, std::int64_t> rows) {
    const MutexLock lock(mutex_);
    rows_ = std::move(rows);
  }
  [[nodiscard]] GuardCounters counters() const {
    const MutexLock lock(mutex_);
    return {.scans = scans,
            .scans_failed = scans_failed,
            .scan_time = Duration(scan_time),
            .healed_by_scan = healed_by_scan,
            .healed_by_retry = healed_by_retry,
            .retried = retried,
            .failed = failed,
            .not_claimed = not_claimed,
            .lost = lost,
            .escalated = escalated,
            .reminded = reminded,
            .reminders_failed = reminders_failed,
            .rows = rows_};
  }

 private:
  mutable Mutex mutex_;
  std::map<std::int32_t, std::int64_t> rows_ GUARDED_BY(mutex_);
};

}  // namespace recourse::guard

// What a scanner's thread is asked for, and what became of what people were told: shared with those
// who tell, who may end later than the guard.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "base/mutex.h"
#include "base/result.h"
#include "guard/guard.h"
#include "guard/reminder.h"
#include "guard/table.h"

namespace recourse::guard {

struct Desk {
  enum class Phase : std::uint8_t { kScanning, kClosed, kEnding };

  // A reminder that is with the notifier, or has ended and is not written yet.
  struct Out {
    ReminderClaim claim;
    // For how long it is held, and when it is held for longer.
    Duration hold = Duration::zero();
    std::chrono::steady_clock::time_point renew_at = {};
    // Empty while it is out.
    std::optional<Telling> ended = std::nullopt;
  };

  Mutex mutex;
  ConditionVariable changed;
  Phase phase GUARDED_BY(mutex) = Phase::kScanning;
  // Something has escalated.
  bool remind GUARDED_BY(mutex) = false;
  // Scans by people, counted; `scanned` is up to which they are done, and `last` how.
  std::uint64_t wanted GUARDED_BY(mutex) = 0;
  std::uint64_t scanned GUARDED_BY(mutex) = 0;
  Result<ScanReport> last GUARDED_BY(mutex) = ScanReport{};
  // By the reminder's id.
  std::map<std::string, Out> out GUARDED_BY(mutex);
  // Of those, how many have ended.
  std::size_t ended GUARDED_BY(mutex) = 0;
  // Of kEnding.
  std::chrono::steady_clock::time_point end_by GUARDED_BY(mutex) =
      std::chrono::steady_clock::time_point::max();

  // When one has to be held for longer; empty: there is none.
  [[nodiscard]] std::optional<std::chrono::steady_clock::time_point> next_hold() const
      REQUIRES(mutex) {
    std::optional<std::chrono::steady_clock::time_point> next;
    for (const auto& [id, one] : out) {
      if (!next || one.renew_at < *next) next = one.renew_at;
    }
    return next;
  }
};

}  // namespace recourse::guard

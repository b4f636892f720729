// What becomes of a guarded row. Pure: times are handed in, whole seconds come out, because that is
// what tables keep.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "base/time.h"
#include "guard/row.h"
#include "guard/settings.h"

namespace recourse::guard {

// Why a row is not retried now; kDue where it is.
enum class Standing : std::uint8_t {
  kDue,             // also past its window: it is retried until a scan has given it to a person
  kNotWaiting,      // err_status is not 4000
  kLater,           // its next retry has not come, or somebody may have claimed it
  kOtherStatus,     // the business status is not the fail value
  kAlreadySuccess,  // the business status is the success value: the next scan heals it
  kPastWindow,      // the next scan gives it to a person
};

Standing standing_of(const Row& row, const GuardSettings& settings, TimePoint now);
// For people: what it means and what to do.
std::string_view explain(Standing standing);
// Of one that does not wait, by its err_status.
std::string_view explain_not_waiting(std::optional<std::int32_t> err_status);

// From the first error; the row's own err_timeout wins over the guard's.
Duration window_of(const Row& row, const GuardSettings& settings);
bool is_past_window(const Row& row, const GuardSettings& settings, TimePoint now);

// For how long a run claims its row: its own time, the statements around it, and whoever is late.
Duration hold_of(const GuardSettings& settings);
// The last moment at which a claim that was made by now can end.
TimePoint last_claim_end(const GuardSettings& settings, TimePoint now);
// How long after its window a row that nobody's run has ended is left to one that may be on its
// way.
Duration grace_of(const GuardSettings& settings);
// Whether a scan gives the row to a person: past its window where it only waits for a retry, which
// would come too late. Where it is due, or may be running, the run itself decides, and the scan
// only after the grace.
bool is_given_up(const Row& row, const GuardSettings& settings, TimePoint now);

// After a run that did not succeed. A next time: retries is the new count. None: a person has to
// look, both times are cleared.
struct AfterFailure {
  std::optional<TimePoint> next_retry;
  int retries = 0;
};
AfterFailure after_failure(const Row& row, const GuardSettings& settings, TimePoint now);

// interval x (count + 1), from now.
TimePoint next_reminder(const Row& row, const GuardSettings& settings, TimePoint now);

// Up to the next whole second: a claim never ends earlier than it was meant to.
TimePoint whole_seconds_up(TimePoint time);

}  // namespace recourse::guard

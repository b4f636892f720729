// When something comes back: a cron expression or a fixed interval, as people write it.
//
//   30 4 * * mon-fri      see timing/cron.h
//   @hourly @daily @weekly @monthly @yearly
//   every 30s, every 5m, every 2h, every 1d
//
// An interval counts from 1970-01-01T00:00:00Z and not from a start, so that all who know the text
// agree on every occurrence without a word between them. All times are UTC, and whole seconds.
//
// Thread safety: a value.
#pragma once

#include <optional>
#include <string_view>
#include <variant>

#include "base/result.h"
#include "base/time.h"
#include "timing/cron.h"

namespace recourse::timing {

class Recurrence {
 public:
  // The error says how to correct it.
  static Result<Recurrence> parse(std::string_view text);

  // The first occurrence after the moment, from 1970 to 9999; kNever where there is none.
  [[nodiscard]] TimePoint next_after(TimePoint moment) const;
  // The last occurrence after `after` and not after `until`.
  [[nodiscard]] std::optional<TimePoint> last_within(TimePoint after, TimePoint until) const;

 private:
  explicit Recurrence(const std::variant<Cron, Duration>& when) : when_(when) {}

  std::variant<Cron, Duration> when_;
};

}  // namespace recourse::timing

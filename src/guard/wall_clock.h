// Moments, and how a table in some time zone writes them down: without a zone, in whole seconds.
//
// Where a zone falls back, an hour is written twice. All of it is read as its first pass; a moment
// of the second is written as the first second after it. So what is written orders as the moments
// do, and nothing ever looks due before it is.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/time.h"
#include "base/time_zone.h"

namespace recourse::guard {

class WallClock {
 public:
  explicit WallClock(TimeZone zone) : zone_(std::move(zone)) {}

  // The first time that can be written and is read as `moment` or later.
  [[nodiscard]] std::string written(TimePoint moment) const;
  // The last time whose reading has come: what is written up to it is due at `now`.
  [[nodiscard]] std::string reached(TimePoint now) const;
  // `2026-02-05 12:00:00`, with anything after the seconds; nothing where it is no time.
  [[nodiscard]] std::optional<TimePoint> read(std::string_view text) const;

 private:
  using Seconds = std::chrono::sys_seconds;

  [[nodiscard]] std::chrono::seconds offset_at(Seconds moment) const;
  // What the wall shows, as if it were UTC, and back.
  [[nodiscard]] Seconds moment_of(Seconds wall) const;
  // The first moment after `from`, up to `to`, that has the offset of `to`.
  [[nodiscard]] Seconds change_between(Seconds from, Seconds to) const;

  TimeZone zone_;
};

}  // namespace recourse::guard

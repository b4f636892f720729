// Times that come back, as crontab(5) writes them: minute, hour, day of the month, month, day of
// the week. UTC only, so that no hour is missing or comes twice, on whichever machine.
//
//   field          allowed      names
//   minute         0-59
//   hour           0-23
//   day-of-month   1-31
//   month          1-12         jan-dec
//   day-of-week    0-7          sun-sat; 0 and 7 are sunday
//
// A field is `*`, or a list of values and ranges; `*` and ranges may have a step (`*/15`,
// `8-18/2`). A day has to be allowed by both day fields, unless neither begins with `*`: then by
// one of them, as in every cron since the seventies.
//
// Thread safety: a value.
#pragma once

#include <cstdint>
#include <string_view>

#include "base/result.h"
#include "base/time.h"

namespace recourse::timing {

class Cron {
 public:
  // The error names the field, what was given and what is allowed. Names are read in any case.
  static Result<Cron> parse(std::string_view text);

  // The first occurrence after the moment, from 1970 to 9999; kNever where there is none, as for
  // the 30th of February.
  [[nodiscard]] TimePoint next_after(TimePoint moment) const;

 private:
  [[nodiscard]] bool allows(std::chrono::sys_days day) const;

  // A bit for each allowed value.
  std::uint64_t minutes_ = 0;
  std::uint64_t hours_ = 0;
  std::uint64_t month_days_ = 0;
  std::uint64_t months_ = 0;
  std::uint64_t week_days_ = 0;
  bool either_day_ = false;
};

}  // namespace recourse::timing

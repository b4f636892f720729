// What comes back by the clock: a schedule is a name, when, and the task to submit each time.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "store/work.h"
#include "task/ids.h"
#include "task/record.h"
#include "timing/recurrence.h"

namespace recourse::engine {

struct Schedule {
  // The whole store's: schedules of one name are one schedule, on whichever node.
  std::string name;
  timing::Recurrence when;
  // Of each task. Without a deadline, which would be the same moment for all of them.
  task::TaskSpec spec;
  // Both from when the task is submitted.
  Duration delay{};
  std::optional<Duration> deadline_in;
  // How late an occurrence may still be run that came while no node lived.
  Duration catch_up{};
};

inline constexpr std::size_t kSchedulesMax = 1'000;
inline constexpr std::size_t kScheduleNameBytesMax = 100;
// What is finished is kept for a week, and only as long as it is can an occurrence be known to have
// been run.
inline constexpr Duration kCatchUpMax = std::chrono::hours(24 * 7);

// Every task of a schedule has them, so that a late attempt knows which occurrence it is of.
inline constexpr const char* kScheduleHeader = "Recourse-Schedule";
inline constexpr const char* kOccurrenceHeader = "Recourse-Occurrence";

// The task of one occurrence. Its id follows from the schedule's name and the occurrence alone: all
// nodes make the same one, and the store takes it once.
store::Submission submission_of(const Schedule& schedule, TimePoint occurrence,
                                TimePoint store_now);
task::TaskId occurrence_id(std::string_view name, TimePoint occurrence);
// 2026-01-31T04:30:00Z
std::string occurrence_text(TimePoint occurrence);

class ScheduleTable {
 public:
  Result<> add(Schedule schedule);

  [[nodiscard]] const std::vector<Schedule>& all() const { return schedules_; }

 private:
  std::vector<Schedule> schedules_;
};

}  // namespace recourse::engine

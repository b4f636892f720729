#include "engine/core/schedule_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/field_checks.h"
#include "base/stable_hash.h"
#include "base/text.h"

namespace recourse::engine {
namespace {

std::int64_t milliseconds_of(TimePoint occurrence) {
  return std::chrono::floor<std::chrono::milliseconds>(occurrence).time_since_epoch().count();
}

Result<> check(const Schedule& schedule) {
  const Duration deadline_in = schedule.deadline_in.value_or(Duration(1));
  if (Result<> own =
          FieldChecks("schedule")
              .between("name (bytes)", schedule.name.size(), std::size_t{1}, kScheduleNameBytesMax)
              .require(is_plain_text(schedule.name), "name",
                       "must be valid UTF-8 without control characters")
              .require(schedule.when.next_after(TimePoint{}) != kNever, "when",
                       "must come at least once: no year has such a day")
              .require(!schedule.spec.kind.value.ends_with('*'), "kind",
                       "must be one kind: the * is for handlers")
              .between("catch_up", schedule.catch_up, Duration::zero(), kCatchUpMax)
              .between("delay", schedule.delay, Duration::zero(), kLongestWait)
              .between("deadline", deadline_in, Duration(1), kLongestWait)
              .result();
      !own) {
    return own;
  }
  // As it will be submitted, headers of ours included.
  return task::validate(submission_of(schedule, TimePoint{}, TimePoint{}).spec);
}

}  // namespace

task::TaskId occurrence_id(std::string_view name, TimePoint occurrence) {
  const std::int64_t milliseconds = milliseconds_of(occurrence);
  const Hash128 hash = stable_hash(fmt::format("{}\n{}", name, milliseconds));
  Ulid id;
  for (std::size_t i = 0; i < 6; ++i) {
    id.bytes[i] = static_cast<std::uint8_t>(milliseconds >> (8 * (5 - i)));
  }
  // Folded, as FNV's authors advise where fewer bits are wanted.
  for (std::size_t i = 0; i < 10; ++i) id.bytes[6 + i] = hash[6 + i];
  for (std::size_t i = 0; i < 6; ++i) id.bytes[10 + i] ^= hash[i];
  return task::TaskId(id);
}

std::string occurrence_text(TimePoint occurrence) {
  const auto day = std::chrono::floor<std::chrono::days>(occurrence);
  const std::chrono::year_month_day date(day);
  const std::chrono::hh_mm_ss time(std::chrono::floor<std::chrono::seconds>(occurrence - day));
  return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}Z", int{date.year()},
                     unsigned{date.month()}, unsigned{date.day()}, time.hours().count(),
                     time.minutes().count(), time.seconds().count());
}

store::Submission submission_of(const Schedule& schedule, TimePoint occurrence,
                                TimePoint store_now) {
  store::Submission made;
  made.id = occurrence_id(schedule.name, occurrence);
  made.spec = schedule.spec;
  made.spec.headers[kScheduleHeader] = schedule.name;
  made.spec.headers[kOccurrenceHeader] = occurrence_text(occurrence);
  if (schedule.deadline_in) {
    made.spec.deadline = saturating_add(store_now, *schedule.deadline_in);
  }
  made.delay = schedule.delay;
  return made;
}

Result<> ScheduleTable::add(Schedule schedule) {
  const auto refuse = [&](ErrorCode code, std::string_view why) {
    return fail(code, fmt::format("schedule {}: {}", shown(schedule.name), why));
  };
  if (Result<> valid = check(schedule); !valid) {
    return refuse(valid.error().code, valid.error().message);
  }
  if (std::ranges::find(schedules_, schedule.name, &Schedule::name) != schedules_.end()) {
    return refuse(ErrorCode::kInvalid, "there is one of this name already");
  }
  if (schedules_.size() >= kSchedulesMax) {
    return refuse(ErrorCode::kInvalid, fmt::format("a node has at most {} of them", kSchedulesMax));
  }
  schedules_.push_back(std::move(schedule));
  return {};
}

}  // namespace recourse::engine

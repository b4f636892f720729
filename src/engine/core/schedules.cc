#include "engine/core/schedules.h"

#include <fmt/format.h>

#include <algorithm>

namespace recourse::engine {
namespace {

constexpr Duration kPause = std::chrono::seconds(1);

bool may_pass(ErrorCode code) {
  return code == ErrorCode::kUnavailable || code == ErrorCode::kInDoubt ||
         code == ErrorCode::kExhausted;
}

std::string named(const Schedule& schedule, TimePoint occurrence) {
  return fmt::format("{} of {}", schedule.name, occurrence_text(occurrence));
}

}  // namespace

Schedules::Schedules(std::vector<Schedule> schedules, Duration patience) : patience_(patience) {
  entries_.reserve(schedules.size());
  for (Schedule& schedule : schedules) {
    entries_.push_back({.schedule = std::move(schedule),
                        .seen_until = TimePoint{},
                        .next = kNever,
                        .current = std::nullopt});
  }
}

void Schedules::look_from(std::size_t index, TimePoint moment) {
  Entry& entry = entries_[index];
  entry.seen_until = moment;
  entry.next = entry.schedule.when.next_after(moment);
}

void Schedules::wait(std::size_t index) {
  const Entry& entry = entries_[index];
  const TimePoint at = std::min(entry.next, entry.again_at);
  if (at != kNever) waiting_.emplace(at, index);
}

Schedules::Due Schedules::take_due(TimePoint now) {
  Due due;
  const bool is_start = !std::exchange(started_, true);
  // Whoever set the clock back did not mean to wait until it is there again. What it passes for the
  // second time has its tasks already.
  const bool is_set_back = !is_start && saturating_add(now, patience_) < last_now_;
  last_now_ = is_set_back ? now : std::max(last_now_, now);
  if (is_start || is_set_back) {
    waiting_.clear();
    for (std::size_t i = 0; i < entries_.size(); ++i) {
      const Duration back = is_start ? entries_[i].schedule.catch_up : Duration::zero();
      look_from(i, saturating_add(now, -back));
      wait(i);
    }
  }
  while (!waiting_.empty() && waiting_.begin()->first <= now) {
    const std::size_t index = waiting_.begin()->second;
    waiting_.erase(waiting_.begin());
    visit(index, now, due);
    wait(index);
  }
  return due;
}

void Schedules::visit(std::size_t index, TimePoint now, Due& due) {
  Entry& entry = entries_[index];
  entry.again_at = kNever;
  if (entry.next <= now) {
    const Duration back = std::max(entry.schedule.catch_up, patience_);
    const auto latest = entry.schedule.when.last_within(
        std::max(entry.seen_until, saturating_add(now, -back)), now);
    if (entry.current) submitted_.erase(occurrence_id(entry.schedule.name, *entry.current));
    entry.current = latest;
    if (!latest) due.missed.push_back(named(entry.schedule, entry.next));
    look_from(index, now);
  }
  if (entry.current) submit(index, now, due);
}

void Schedules::submit(std::size_t index, TimePoint now, Due& due) {
  const Entry& entry = entries_[index];
  due.submissions.push_back(submission_of(entry.schedule, *entry.current, now));
  submitted_[due.submissions.back().id] = index;
}

TimePoint Schedules::next_wakeup() const {
  return waiting_.empty() ? kNever : waiting_.begin()->first;
}

std::optional<std::string> Schedules::refused(const task::TaskId& id, const Error& error,
                                              TimePoint now) {
  const auto found = submitted_.find(id);
  if (found == submitted_.end()) return std::nullopt;
  Entry& entry = entries_[found->second];
  if (!may_pass(error.code)) {
    return fmt::format("{}: {}", named(entry.schedule, *entry.current), error.message);
  }
  waiting_.erase({std::min(entry.next, entry.again_at), found->second});
  entry.again_at = saturating_add(now, kPause);
  wait(found->second);
  return std::nullopt;
}

}  // namespace recourse::engine

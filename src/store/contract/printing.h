// How GoogleTest shows tasks where a comparison fails: by name, not by byte.
#pragma once

#include <fmt/format.h>

#include <optional>
#include <ostream>
#include <string>
#include <string_view>

#include "base/time.h"
#include "store/work.h"
#include "task/ids.h"
#include "task/ownership.h"
#include "task/record.h"
#include "task/state.h"

namespace recourse::task {

// GoogleTest finds these by their name.
// NOLINTBEGIN(readability-identifier-naming)
inline void PrintTo(State state, std::ostream* out) { *out << to_string(state); }
inline void PrintTo(Move move, std::ostream* out) { *out << to_string(move); }
inline void PrintTo(const TaskId& id, std::ostream* out) { *out << to_string(id); }
inline void PrintTo(const Kind& kind, std::ostream* out) { *out << kind.value; }
inline void PrintTo(const Fence& fence, std::ostream* out) { *out << fence.value; }

inline void PrintTo(WriteVerdict verdict, std::ostream* out) {
  switch (verdict) {
    case WriteVerdict::kApply: *out << "applied"; return;
    case WriteVerdict::kAlreadyApplied: *out << "already applied"; return;
    case WriteVerdict::kRefused: *out << "refused"; return;
  }
}

inline std::string micros(const std::optional<TimePoint>& time) {
  return time ? fmt::format("{}", time->time_since_epoch().count()) : "-";
}

inline void PrintTo(const Task& task, std::ostream* out) {
  *out << fmt::format(
      "{} {} kind={} tenant={} key={} priority={} payload={} bytes, created={} due={} retries={} "
      "attempts={} episode={} first_started={} start={} deaths={} fence={} lease={} "
      "owner={} lease_end={} requested={} error={} ended={} deadline={}",
      to_string(task.id), to_string(task.state), task.spec.kind.value, task.spec.tenant.value,
      task.spec.unique_key.value, task.spec.priority, task.spec.payload.size(),
      micros(task.created_at), micros(task.due_at), task.retries, task.attempts, task.episode,
      micros(task.first_started_at), static_cast<int>(task.start), task.deaths,
      task.ticket.fence.value, recourse::to_string(task.ticket.lease.value),
      task.owner ? to_string(*task.owner) : "-", micros(task.lease_end),
      task.requested ? to_string(*task.requested) : "-",
      task.last_error ? task.last_error->code + ": " + task.last_error->message.substr(0, 80) : "-",
      micros(task.ended_at), micros(task.spec.deadline));
}
// NOLINTEND(readability-identifier-naming)

}  // namespace recourse::task

namespace recourse::store {

// NOLINTNEXTLINE(readability-identifier-naming)
inline void PrintTo(Insertion insertion, std::ostream* out) {
  switch (insertion) {
    case Insertion::kInserted: *out << "inserted"; return;
    case Insertion::kRepeated: *out << "repeated"; return;
    case Insertion::kKeyTaken: *out << "key taken"; return;
    case Insertion::kKeyBusy: *out << "key busy"; return;
  }
}

}  // namespace recourse::store

// What people may ask of a task, as a rule: done at once, or left as a request for its owner.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/result.h"
#include "base/time.h"
#include "task/record.h"
#include "task/state.h"
#include "task/transition.h"

namespace recourse::task {

inline constexpr std::size_t kReasonBytesMax = 1'000;

struct Order {
  // A control of the state table; empty where only the payload is edited.
  std::optional<Move> move;
  // Replaces the payload before the move. Refused while somebody owns the task: it may have read
  // the old one already.
  std::optional<std::string> payload;
  // Only with reopen, where the old deadline has passed.
  std::optional<TimePoint> deadline;
  // Why, in the words of whoever wants it; for the audit.
  std::string reason = {};
};

// What can never work, whatever the task.
Result<> validate(const Order& order);

enum class Effect : std::uint8_t {
  kDone,
  kRequested,  // somebody owns it and will carry it out with its next write
};

struct Controlled {
  Task task;  // as it is to stand in the row
  Effect effect;
};

// A request leaves the fence as it is, so that the owner's next write is not refused; all else
// raises it. kConflict says what would be possible instead.
Result<Controlled> control(Task task, const Order& order, TimePoint now);

}  // namespace recourse::task

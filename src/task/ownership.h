// Who may write a task's row, and how a store tells.
//
// Each write of an owner shows the fence and the lease id it holds. The row keeps the lease id of
// the last outcome until the next claim, so that a write whose reply was lost can be repeated: the
// second time it is recognised, not refused.
#pragma once

#include <cstdint>

#include "task/ids.h"

namespace recourse::task {

struct Ticket {
  Fence fence;
  LeaseId lease;

  friend constexpr auto operator<=>(const Ticket&, const Ticket&) = default;
};

enum class WriteVerdict : std::uint8_t {
  kApply,           // the row is as the owner left it
  kAlreadyApplied,  // this very write is in the row: answer as if it had just been made
  kRefused,         // somebody else has it: drop the outcome, count it, go on
};

// The stores say the same in the WHERE of their writes; the contract suite holds them to this.
constexpr WriteVerdict judge_write(const Ticket& row, const Ticket& shown) {
  if (row.lease != shown.lease) return WriteVerdict::kRefused;
  if (row.fence == shown.fence) return WriteVerdict::kApply;
  if (row.fence == next(shown.fence)) return WriteVerdict::kAlreadyApplied;
  return WriteVerdict::kRefused;
}

}  // namespace recourse::task

// What is remembered of an attempt that did not succeed, whoever ran it.
#pragma once

#include <string>
#include <utility>

#include "base/time.h"
#include "store/history.h"
#include "task/transition.h"

namespace recourse::engine {

// All times are the store's.
struct AttemptTimes {
  TimePoint started_at;
  TimePoint ended_at;
};

inline store::Attempt attempt_row(const task::Transition& change, std::string owner,
                                  const AttemptTimes& times) {
  store::Attempt row;
  row.task = change.task;
  row.number = change.attempts;
  row.started_at = times.started_at;
  row.ended_at = times.ended_at;
  row.owner = std::move(owner);
  row.fence = change.ticket.fence;
  row.decision = change.move;
  row.error = change.error;
  const bool waits_again = change.to == task::State::kPending || change.to == task::State::kRunning;
  if (waits_again) row.next_due = change.due_at;
  return row;
}

}  // namespace recourse::engine

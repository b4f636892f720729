// How long finished tasks are kept. Fixed when a task is finished, so that a changed setting never
// deletes what was promised to be kept.
#pragma once

#include <map>
#include <utility>

#include "base/time.h"
#include "task/ids.h"
#include "task/state.h"

namespace recourse::store {

struct Retention {
  Duration standard = std::chrono::hours(24 * 7);
  std::map<std::pair<task::Kind, task::State>, Duration> exceptions;
};

inline TimePoint expires_at(const Retention& retention, const task::Kind& kind, task::State state,
                            TimePoint ended_at) {
  const auto exception = retention.exceptions.find({kind, state});
  return saturating_add(
      ended_at, exception == retention.exceptions.end() ? retention.standard : exception->second);
}

}  // namespace recourse::store

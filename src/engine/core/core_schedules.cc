// Schedules: the core submits to itself, and nobody else hears the answers.
#include <utility>

#include "engine/core/core.h"

namespace recourse::engine {

void Core::submit_occurrences(TimePoint now, Commands& out) {
  if (!life_.is_live() || stopping_) return;
  Schedules::Due due = schedules_.take_due(store_time_.at(now));
  for (std::string& missed : due.missed) {
    out.emplace_back(Happening(NodeHappened{NodeEvent::kMissed, std::move(missed)}));
  }
  for (store::Submission& submission : due.submissions) {
    const task::TaskId id = submission.id;
    (void)lane_of(submission.spec.kind, now);
    // Other nodes submit it too, and it may be finished by now.
    const bool taken = ingest_.add({.submit = kOwnSubmit,
                                    .submission = std::move(submission),
                                    .novelty = store::Novelty::kRepeat});
    if (!taken) hear(id, {ErrorCode::kExhausted, kTooManySubmits}, now, out);
  }
}

void Core::hear(const task::TaskId& id, const Error& error, TimePoint now, Commands& out) {
  if (auto told = schedules_.refused(id, error, store_time_.at(now))) {
    out.emplace_back(Happening(NodeHappened{NodeEvent::kUnsubmitted, *std::move(told)}));
  }
}

}  // namespace recourse::engine

// The follow-ups of a handler's answer, checked where it is given.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "policy/backoff.h"
#include "recourse/outcome.h"
#include "store/work.h"
#include "task/record.h"

namespace recourse::embed {

// What is needed to understand an answer. An attempt may outlive its engine, and keeps this.
struct Answering {
  std::shared_ptr<const policy::BackoffRegistry> backoffs;
  std::function<TimePoint()> now;
  std::function<std::string(const ToRoute&)> router = nullptr;
};

// With ids that follow from the parent's.
Result<std::vector<store::Submission>> follow_ups_of(const Outcome& outcome,
                                                     const task::Task& parent,
                                                     const Answering& answering);

}  // namespace recourse::embed

// How the library makes what its users see of an attempt.
#pragma once

#include <memory>
#include <utility>

#include "engine/attempt_run.h"
#include "recourse/attempt.h"

namespace recourse {

struct Attempt::Impl {
  std::shared_ptr<engine::AttemptRun> run;
};

namespace detail {

class AttemptAccess {
 public:
  static Attempt make(std::shared_ptr<engine::AttemptRun> run) {
    return Attempt(std::make_shared<Attempt::Impl>(Attempt::Impl{std::move(run)}));
  }
  static Completion completion(std::shared_ptr<engine::AttemptRun> run) {
    return Completion(make(std::move(run)));
  }
  static engine::AttemptRun& run_of(const Attempt& attempt) { return *attempt.impl_->run; }
};

}  // namespace detail
}  // namespace recourse

namespace recourse::embed {

engine::AttemptResult result_of(const Outcome& outcome);

}  // namespace recourse::embed

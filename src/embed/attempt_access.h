// How the library makes what its users see of an attempt.
#pragma once

#include <memory>
#include <utility>

#include "embed/follow_ups.h"
#include "engine/attempt_run.h"
#include "recourse/attempt.h"

namespace recourse {

struct Attempt::Impl {
  std::shared_ptr<engine::AttemptRun> run;
  std::shared_ptr<const embed::Answering> answering;
};

namespace detail {

class AttemptAccess {
 public:
  static Attempt make(std::shared_ptr<engine::AttemptRun> run,
                      std::shared_ptr<const embed::Answering> answering) {
    return Attempt(
        std::make_shared<Attempt::Impl>(Attempt::Impl{std::move(run), std::move(answering)}));
  }
  static Completion completion(std::shared_ptr<engine::AttemptRun> run,
                               std::shared_ptr<const embed::Answering> answering) {
    return Completion(make(std::move(run), std::move(answering)));
  }
  // What the handler answered.
  static void complete(const Attempt& attempt, const Outcome& outcome);
};

}  // namespace detail
}  // namespace recourse

namespace recourse::embed {

// But for what follows from it.
engine::AttemptResult result_of(const Outcome& outcome);

}  // namespace recourse::embed

#include "engine/attempt_run.h"

#include <stdexcept>

namespace recourse::engine {

AttemptRun::~AttemptRun() {
  if (completed()) return;
  complete(Failed{policy::Thrown{
      std::make_exception_ptr(std::logic_error("the handler went away without an answer"))}});
}

void AttemptRun::complete(AttemptResult result, std::vector<store::Submission> follow_ups) {
  if (completed_.exchange(true, std::memory_order_acq_rel)) return;
  (void)inbox_->put(AttemptEnded{
      .attempt = start_.attempt, .result = std::move(result), .follow_ups = std::move(follow_ups)});
}

void AttemptRun::note(Said said) {
  if (completed()) return;
  std::shared_ptr<HandlersPad> pad;
  {
    MutexLock lock(pad_mutex_);
    if (!pad_) pad_ = std::make_shared<HandlersPad>();
    pad = pad_;
  }
  if (!pad->write(std::move(said))) return;
  (void)inbox_->put(AttemptNoted{.attempt = start_.attempt, .pad = std::move(pad)});
}

void run_attempt(const std::shared_ptr<AttemptRun>& run, const Handler& handler,
                 const Probe& probe) {
  // Nothing that a handler throws, of whatever type, goes past this.
  try {
    if (run->start().probe_first && probe && probe(run)) {
      run->complete(Succeeded{});
      return;
    }
    handler(run);
  } catch (...) {
    run->complete(Failed{policy::Thrown{std::current_exception()}});
  }
}

}  // namespace recourse::engine

#include "engine/attempt_run.h"

#include <stdexcept>

namespace recourse::engine {

AttemptRun::~AttemptRun() {
  if (completed()) return;
  complete(Failed{policy::Thrown{
      std::make_exception_ptr(std::logic_error("the handler went away without an answer"))}});
}

void AttemptRun::complete(AttemptResult result) {
  if (completed_.exchange(true, std::memory_order_acq_rel)) return;
  (void)inbox_->put(AttemptEnded{.attempt = start_.attempt, .result = std::move(result)});
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

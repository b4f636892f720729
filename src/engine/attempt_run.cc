#include "engine/attempt_run.h"

#include <algorithm>
#include <stdexcept>

namespace recourse::engine {

AttemptRun::~AttemptRun() {
  if (completed_.load(std::memory_order_acquire)) return;
  complete(Failed{policy::Thrown{
      std::make_exception_ptr(std::logic_error("the handler went away without an answer"))}});
}

// The time is written before anybody can see that it began: a recall that fails may ask for it.
bool AttemptRun::begin(TimePoint now) {
  began_at_ = now;
  Phase handed = Phase::kHanded;
  return phase_.compare_exchange_strong(handed, Phase::kBegun, std::memory_order_acq_rel);
}

bool AttemptRun::recall() {
  Phase handed = Phase::kHanded;
  if (!phase_.compare_exchange_strong(handed, Phase::kRecalled, std::memory_order_acq_rel)) {
    return false;
  }
  complete(NotStarted{});
  return true;
}

Duration AttemptRun::time_left() const {
  const Duration whole = task().spec.timeout;
  if (!measured_from_) return whole;
  const auto used =
      std::chrono::duration_cast<Duration>(std::chrono::steady_clock::now() - *measured_from_);
  return std::max(whole - used, Duration::zero());
}

void AttemptRun::complete(AttemptResult result, std::vector<store::Submission> follow_ups) {
  if (completed_.exchange(true, std::memory_order_acq_rel)) return;
  AttemptEnded ended{
      .attempt = start_.attempt, .result = std::move(result), .follow_ups = std::move(follow_ups)};
  if (measured_from_) {
    ended.took =
        std::chrono::duration_cast<Duration>(std::chrono::steady_clock::now() - *measured_from_);
  }
  (void)inbox_->put(std::move(ended), wake_);
}

void AttemptRun::note(Said said) {
  if (completed_.load(std::memory_order_acquire)) return;
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

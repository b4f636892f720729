#include "degrade/inline_calls.h"

#include <chrono>
#include <exception>
#include <optional>
#include <utility>

#include "base/duration_text.h"
#include "base/text.h"
#include "policy/failure.h"

namespace recourse::degrade {
namespace {

using Steady = std::chrono::steady_clock;

Duration since(Steady::time_point begun) {
  return std::chrono::duration_cast<Duration>(Steady::now() - begun);
}

// What it throws ends here.
std::string failure_of(const InlineAction& action, const std::stop_token& stop) {
  try {
    const Result<> result = action(stop);
    if (result) return {};
    return result.error().message.empty() ? "the action failed and did not say why"
                                          : result.error().message;
  } catch (...) {
    const policy::FailureText text = describe(policy::Thrown{std::current_exception()});
    return text.message.empty() ? text.type : text.message;
  }
}

}  // namespace

class InlineCalls::Call {
 public:
  Call(InlineAction action, std::function<void(const InlineOutcome&)> ended)
      : action_(std::move(action)), ended_(std::move(ended)) {}

  // On a thread of the executor.
  void run() {
    if (!begin()) return;
    const auto begun = Steady::now();
    InlineOutcome outcome{.failure = failure_of(action_, stop_.get_token()), .took = {}};
    outcome.took = since(begun);
    // What the action holds goes with its thread, not with whoever still has the call.
    action_ = nullptr;
    {
      MutexLock lock(mutex_);
      outcome_ = outcome;
      changed_.notify_all();
    }
    if (ended_) ended_(outcome);
  }

  InlineOutcome wait(Duration limit) {
    const auto begun = Steady::now();
    bool had_begun = false;
    {
      MutexLock lock(mutex_);
      while (!outcome_) {
        if (changed_.wait_until(mutex_, begun + limit) == std::cv_status::timeout) break;
      }
      if (outcome_) return *outcome_;
      had_begun = std::exchange(phase_, Phase::kLeft) == Phase::kBegun;
    }
    // Without the lock: it runs what the action has tied to its token.
    stop_.request_stop();
    return {.failure = had_begun ? "no answer within " + format_duration(limit) +
                                       "; it may have happened all the same"
                                 : "no free thread within " + format_duration(limit) +
                                       ": too many calls hang",
            .took = since(begun)};
  }

  void request_stop() { stop_.request_stop(); }

 private:
  enum class Phase : std::uint8_t { kWaiting, kBegun, kLeft };

  bool begin() {
    MutexLock lock(mutex_);
    if (phase_ != Phase::kWaiting || stop_.stop_requested()) return false;
    phase_ = Phase::kBegun;
    return true;
  }

  // Of the thread that runs it.
  InlineAction action_;
  const std::function<void(const InlineOutcome&)> ended_;
  std::stop_source stop_;
  Mutex mutex_;
  ConditionVariable changed_;
  Phase phase_ GUARDED_BY(mutex_) = Phase::kWaiting;
  std::optional<InlineOutcome> outcome_ GUARDED_BY(mutex_);
};

InlineCalls::InlineCalls(int threads)
    : calls_max_(static_cast<std::size_t>(threads) * (1 + kWaitingPerThread)),
      executor_(
          {.core_threads = 1, .max_threads = threads, .rejection = engine::Rejection::kHandBack}) {}

InlineCalls::~InlineCalls() {
  std::set<std::shared_ptr<Call>> calls;
  {
    MutexLock lock(mutex_);
    calls = calls_;
  }
  for (const auto& call : calls) call->request_stop();
}

std::shared_ptr<InlineCalls::Call> InlineCalls::begin(
    InlineAction action, std::function<void(const InlineOutcome&)> ended) {
  auto call = std::make_shared<Call>(std::move(action), std::move(ended));
  {
    MutexLock lock(mutex_);
    if (calls_.size() >= calls_max_) return nullptr;
    calls_.insert(call);
  }
  executor_.run([this, call] {
    call->run();
    forget(call);
  });
  return call;
}

void InlineCalls::forget(const std::shared_ptr<Call>& call) {
  MutexLock lock(mutex_);
  calls_.erase(call);
}

InlineOutcome InlineCalls::run(InlineAction action, Duration limit) {
  const std::shared_ptr<Call> call = begin(std::move(action), nullptr);
  if (!call) return {.failure = "no free thread: too many calls hang", .took = {}};
  return call->wait(limit);
}

bool InlineCalls::run_apart(InlineAction action, std::function<void(const InlineOutcome&)> ended) {
  return begin(std::move(action), std::move(ended)) != nullptr;
}

}  // namespace recourse::degrade

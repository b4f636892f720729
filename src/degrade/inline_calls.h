// Calls of one kind's action on behalf of callers who wait for it, for a limited time.
//
// A thread cannot be taken away from what it runs: a call that overruns goes on after its caller
// has left, so everything it uses is owned by it, and the number of threads is bounded. Callers who
// find no thread wait for one within their own limit.
//
// Thread safety: safe to use from any thread.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <set>
#include <stop_token>
#include <string>

#include "base/mutex.h"
#include "base/result.h"
#include "base/time.h"
#include "engine/executor.h"

namespace recourse::degrade {

// Answers an error where it did not work; may throw. Should end soon once it is asked to stop.
using InlineAction = std::function<Result<>(const std::stop_token&)>;

struct InlineOutcome {
  // Empty: it worked. Otherwise why not.
  std::string failure;
  Duration took{};

  [[nodiscard]] bool worked() const { return failure.empty(); }
};

class InlineCalls {
 public:
  explicit InlineCalls(int threads);
  // Asks those that run to stop, and waits for them.
  ~InlineCalls();
  InlineCalls(const InlineCalls&) = delete;
  InlineCalls& operator=(const InlineCalls&) = delete;

  // Returns at the limit at the latest. An action that had no thread until then is never called.
  InlineOutcome run(InlineAction action, Duration limit);
  // Returns at once; `ended` is called on the action's thread, or never where there is none free.
  // False: that is so.
  bool run_apart(InlineAction action, std::function<void(const InlineOutcome&)> ended);

 private:
  class Call;

  // Empty where too many wait.
  std::shared_ptr<Call> begin(InlineAction action, std::function<void(const InlineOutcome&)> ended);
  void forget(const std::shared_ptr<Call>& call);

  // Of calls that wait for a thread, per thread.
  static constexpr std::size_t kWaitingPerThread = 8;

  const std::size_t calls_max_;
  Mutex mutex_;
  std::set<std::shared_ptr<Call>> calls_ GUARDED_BY(mutex_);
  // Last: its threads use everything above.
  engine::Executor executor_;
};

}  // namespace recourse::degrade

// Tells the embedding program of tasks that have ended, on a thread of its own: whatever it does
// then, the engine goes on.
#pragma once

#include <cstddef>
#include <deque>
#include <functional>
#include <optional>
#include <thread>

#include "base/mutex.h"
#include "base/time.h"
#include "engine/core/happening.h"
#include "recourse/engine.h"

namespace recourse::embed {

// Empty where the task goes on.
std::optional<Ended> ended_of(const engine::Happening& happening);
// What it throws ends here.
void tell_safely(const std::function<void(const Ended&)>& call, const Ended& ended);

// Safe to use from any thread.
class EndTeller {
 public:
  explicit EndTeller(std::function<void(const Ended&)> call);
  // Waits for the call that is being made; what else waits is not told.
  ~EndTeller();
  EndTeller(const EndTeller&) = delete;
  EndTeller& operator=(const EndTeller&) = delete;

  // Never waits. Where the program is slower than its tasks end, the oldest go untold.
  void tell(Ended ended);
  // Until all are told, for `patience` at most. Not from within a call.
  void wait(Duration patience);

 private:
  static constexpr std::size_t kWaitingMax = 10'000;

  void run();

  const std::function<void(const Ended&)> call_;
  Mutex mutex_;
  ConditionVariable changed_;
  std::deque<Ended> waiting_ GUARDED_BY(mutex_);
  bool calling_ GUARDED_BY(mutex_) = false;
  bool closing_ GUARDED_BY(mutex_) = false;
  std::thread thread_;  // last: it uses everything above
};

}  // namespace recourse::embed

// Submits that somebody waits for, but not for ever: the answers may come when nobody does any
// more.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <vector>

#include "base/mutex.h"
#include "base/result.h"
#include "base/time.h"
#include "engine/node.h"
#include "store/work.h"

namespace recourse::engine {

// Safe to use from any thread. A copy means the same submits.
class Submits {
 public:
  struct Answer {
    store::Insertion result = store::Insertion::kInserted;
    // The submitted one, or the one that has the key.
    task::TaskId task;
  };

  // kRepeat where one of these ids may have been sent before.
  static Submits send(Node& node, std::vector<store::Submission> batch, store::Novelty novelty);

  // True when all are answered; false at the end of `patience`.
  [[nodiscard]] bool wait(Duration patience) const;
  // Of those that are answered; one that is not is in doubt.
  [[nodiscard]] std::vector<Result<Answer>> results() const;

 private:
  struct State {
    Mutex mutex;
    ConditionVariable all_there;
    std::vector<std::optional<Result<Answer>>> answers GUARDED_BY(mutex);
    std::size_t missing GUARDED_BY(mutex) = 0;
  };
  class Waiter;

  explicit Submits(std::shared_ptr<State> state) : state_(std::move(state)) {}

  std::shared_ptr<State> state_;
};

}  // namespace recourse::engine

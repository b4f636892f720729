// What the tests of engines under load share: who ran what, and how long a test may take.
#pragma once

#include <chrono>
#include <cstdlib>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "recourse/engine.h"

namespace recourse::tests {

using Stopwatch = std::chrono::steady_clock;

inline Duration since(Stopwatch::time_point start) {
  return std::chrono::duration_cast<Duration>(Stopwatch::now() - start);
}

// Which handler ran which task, and which submits were answered how. Safe to use from any thread.
class RunBook {
 public:
  struct Run {
    std::string by;
    std::int64_t fence = 0;
    Stopwatch::time_point started;
    bool answered = false;
  };

  void begin(const Attempt& attempt, std::string by) {
    const std::lock_guard lock(mutex_);
    runs_[attempt.id()].push_back(
        {.by = std::move(by), .fence = attempt.fence(), .started = Stopwatch::now()});
  }
  // The handler is about to answer done().
  void end(const Attempt& attempt) {
    const std::lock_guard lock(mutex_);
    for (Run& run : runs_[attempt.id()]) run.answered |= run.fence == attempt.fence();
  }
  // Of a submit.
  void answered(const Result<TaskIdText>& answer) {
    const std::lock_guard lock(mutex_);
    if (answer) {
      acknowledged_.insert(*answer);
    } else {
      refusals_.push_back(answer.error());
    }
  }

  // Once nothing writes any more.
  [[nodiscard]] const std::map<std::string, std::vector<Run>>& runs() const { return runs_; }
  [[nodiscard]] const std::set<std::string>& acknowledged() const { return acknowledged_; }
  [[nodiscard]] const std::vector<Error>& refusals() const { return refusals_; }

 private:
  std::mutex mutex_;
  std::map<std::string, std::vector<Run>> runs_;
  std::set<std::string> acknowledged_;
  std::vector<Error> refusals_;
};

// Nothing of the kind waits or runs any more.
inline bool is_drained(Engine& engine, const std::string& kind) {
  auto counts = engine.counts();
  return counts && (*counts)[{kind, "pending"}] == 0 && (*counts)[{kind, "running"}] == 0;
}

}  // namespace recourse::tests

// One call of a handler, from its start to its end: what the handler sees of it, and how it
// answers, from whatever thread.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <utility>

#include "base/mutex.h"
#include "base/time.h"
#include "engine/core/command.h"
#include "engine/core/event.h"
#include "engine/inbox.h"
#include "engine/note_pad.h"
#include "task/record.h"

namespace recourse::engine {

// Safe to use from any thread.
class AttemptRun {
 public:
  AttemptRun(Start start, std::shared_ptr<Inbox> inbox)
      : start_(std::move(start)), inbox_(std::move(inbox)) {}
  // A handler that goes away without an answer has failed: nothing may stay running for ever.
  ~AttemptRun();
  AttemptRun(const AttemptRun&) = delete;
  AttemptRun& operator=(const AttemptRun&) = delete;

  [[nodiscard]] const task::Task& task() const { return *start_.task; }
  [[nodiscard]] const Start& start() const { return start_; }
  // Set when its time is up, a person cancels it, or the node is about to end.
  [[nodiscard]] std::stop_token stop_token() const { return stop_.get_token(); }
  // Runs what handlers have tied to the token.
  void request_stop(StopReason reason) {
    reason_.store(reason, std::memory_order_release);
    stop_.request_stop();
  }
  // Its handler was stopped although it had time left: that says nothing of its work.
  [[nodiscard]] bool is_cut_off() const {
    return stop_.stop_requested() &&
           reason_.load(std::memory_order_acquire) != StopReason::kTimeout;
  }

  // Of these two one succeeds, once: the handler is called, or never will be, which is answered
  // then.
  bool begin(TimePoint now);
  bool recall();
  [[nodiscard]] bool has_begun() const {
    return phase_.load(std::memory_order_acquire) == Phase::kBegun;
  }
  // Only where it has.
  [[nodiscard]] TimePoint began_at() const { return began_at_; }
  // From here on the time until the answer is measured, and told with it.
  void measure() { measured_from_ = std::chrono::steady_clock::now(); }
  // What is left of its time; all of it where nobody measures.
  [[nodiscard]] Duration time_left() const;
  // Another attempt on the same thread follows at once, and its answer will wake the core.
  void answer_lazily() { wake_ = Inbox::Wake::kLater; }

  // The first answer counts; later ones are ignored. Whether it is still wanted is the core's to
  // say.
  void complete(AttemptResult result, std::vector<store::Submission> follow_ups = {});
  // For people. Never waits; ignored once there is an answer.
  void note(Said said);

 private:
  enum class Phase : std::uint8_t { kHanded, kBegun, kRecalled };

  Start start_;
  // A handler may keep it for longer than the node lives.
  std::shared_ptr<Inbox> inbox_;
  std::stop_source stop_;
  std::atomic<StopReason> reason_ = StopReason::kTimeout;
  Inbox::Wake wake_ = Inbox::Wake::kNow;
  TimePoint began_at_;
  std::optional<std::chrono::steady_clock::time_point> measured_from_;
  std::atomic<Phase> phase_ = Phase::kHanded;
  std::atomic<bool> completed_ = false;
  Mutex pad_mutex_;
  // Made for the first note: most attempts write none.
  std::shared_ptr<HandlersPad> pad_ GUARDED_BY(pad_mutex_);
};

// Runs on a thread of the executor. It answers through the run: before it returns, or later from
// any thread that keeps the pointer. What it throws becomes its answer.
using Handler = std::function<void(const std::shared_ptr<AttemptRun>&)>;
// "Is it already done?" Asked before a task runs again that may have happened. Where it is, it may
// have answered through the run.
using Probe = std::function<bool(const std::shared_ptr<AttemptRun>&)>;

// Calls the probe where one is asked for, then the handler; what they throw is the answer.
void run_attempt(const std::shared_ptr<AttemptRun>& run, const Handler& handler,
                 const Probe& probe);

}  // namespace recourse::engine

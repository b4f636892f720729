// A node without threads: time stands still until it is moved, and handlers run on the caller's
// thread. For users' own tests, and for ours.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "base/manual_clock.h"
#include "base/result.h"
#include "engine/attempt_run.h"
#include "engine/core/core.h"
#include "engine/core/schedule_table.h"
#include "engine/handler_table.h"
#include "store/opened.h"

namespace recourse::engine {

// Thread safety: none, but for completions of asynchronous attempts.
class InlineNode {
 public:
  // The store and the clock, which is the store's too, must outlive it.
  InlineNode(store::OpenedStore& opened, ManualClock& clock, NodeSettings settings);
  ~InlineNode();
  InlineNode(const InlineNode&) = delete;
  InlineNode& operator=(const InlineNode&) = delete;

  // Before start().
  Result<> handle(std::string_view kind, KindRules rules, Handler handler, Probe probe = nullptr);
  Result<> schedule(Schedule schedule) { return schedules_.add(std::move(schedule)); }
  // Told of everything that happens.
  void listen(std::function<void(const Happening&)> listener) { listener_ = std::move(listener); }
  Result<> start();

  // Calls no handler.
  SubmitAnswer submit(store::Submission submission, store::Novelty novelty);
  // Does all that is due; answers how many handlers were called.
  int run_due();
  // Moves the clock, and does on the way whatever comes due, at its time.
  int advance(Duration by);
  void hint_requests();

 private:
  // One round: what came in, and what follows from it. False when nothing was left to do.
  bool turn();
  // Calls the handlers that may start. False: none.
  bool run_started();
  void carry_out(Command& command);
  void carry_out(const Recall& recall);
  void call(const std::shared_ptr<AttemptRun>& run);
  [[nodiscard]] TimePoint now() const { return clock_.now(); }

  store::OpenedStore& opened_;
  ManualClock& clock_;
  const NodeSettings settings_;
  HandlerTable handlers_;
  ScheduleTable schedules_;
  std::unique_ptr<Core> core_;
  std::shared_ptr<Inbox> inbox_ = std::make_shared<Inbox>();
  std::deque<std::shared_ptr<AttemptRun>> handed_;
  // Those that complete later; whoever runs here has ended when it returns.
  std::map<AttemptId, std::weak_ptr<AttemptRun>> runs_;
  std::map<SubmitId, SubmitAnswer> answers_;
  std::uint64_t submits_ = 0;
  int calls_ = 0;
  std::function<void(const Happening&)> listener_;
};

}  // namespace recourse::engine

// The engine of one node with its threads: the core on one of its own, the store's calls on a crew,
// handlers on the executor. It moves events and commands; every rule is the core's.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <unordered_map>
#include <vector>

#include "base/clock.h"
#include "base/log.h"
#include "base/mutex.h"
#include "base/result.h"
#include "engine/attempt_run.h"
#include "engine/core/core.h"
#include "engine/core/schedule_table.h"
#include "engine/executor.h"
#include "engine/handler_table.h"
#include "engine/inbox.h"
#include "engine/store_crew.h"
#include "store/opened.h"

namespace recourse::engine {

// Where a submit's answer goes, on the core's thread: it must be quick.
class SubmitWaiter {
 public:
  virtual ~SubmitWaiter() = default;
  virtual void answered(const SubmitAnswer& answer) = 0;
};

// Told of everything that happens, on the core's thread: it must be quick.
using Listener = std::function<void(const Happening&)>;

// Safe to use from any thread, but for handle() and start(), which come first.
class Node {
 public:
  // All of them must outlive the node.
  Node(store::OpenedStore& opened, const Clock& clock, Log& log, NodeSettings settings,
       std::uint64_t seed);
  // Stops at once where stop() was not called: running attempts are waited for all the same,
  // because a thread cannot be taken away from its handler.
  ~Node();
  Node(const Node&) = delete;
  Node& operator=(const Node&) = delete;

  // Before start(). A name that ends in `*` stands for all kinds that begin so.
  Result<> handle(std::string_view kind, KindRules rules, Handler handler, Probe probe = nullptr);
  // Before start().
  Result<> schedule(Schedule schedule);
  void listen(Listener listener) { listener_ = std::move(listener); }
  Result<> start();

  // The waiter is answered exactly once, and must live until then. kRepeat where the id may have
  // been submitted before.
  void submit(store::Submission submission, store::Novelty novelty, SubmitWaiter& waiter);
  // Waits until the task is durable, or is not.
  SubmitAnswer submit(store::Submission submission, store::Novelty novelty);

  // Something may be due, now or in a while, or asked for by people.
  void hint_work(Duration in = Duration::zero()) { (void)inbox_->put(WorkHint{.in = in}); }
  void hint_requests() { (void)inbox_->put(RequestHint{}); }

  // Those in other processes, where the store carries hints. After start().
  void hint_others(store::Hint hint);

  // Waits for running attempts up to the limit. Again with a shorter limit: forces.
  Stopped stop(Duration limit);

  // How often the core's thread has gone round; asks it to do so again. The same number some time
  // later: it hangs.
  [[nodiscard]] std::uint64_t turns();

  // As registered; does not change after start().
  [[nodiscard]] const KindTable& kinds() const { return handlers_.kinds(); }
  // The store's clock, as far as it is known here: never ahead of it.
  [[nodiscard]] TimePoint store_now() const;
  [[nodiscard]] Core::Status status() const;
  [[nodiscard]] Executor::Use executor_use() const { return executor_.use(); }

 private:
  void run();
  void carry_out(Commands& commands);
  void carry_out(Run run);
  void carry_out(const Recall& recall);
  void carry_out(const StopAttempt& stop);
  void carry_out(const AnswerSubmits& answers);
  // On a thread of the executor: the last look before the call, and the call.
  void call(const std::shared_ptr<AttemptRun>& run, const HandlerTable::Entry& entry);
  void tell(const Happening& happening);
  void publish(Core& core, TimePoint now);
  void end(Core& core);

  store::OpenedStore& opened_;
  Log& log_;
  const SteadyTime time_;
  const NodeSettings settings_;
  const std::uint64_t seed_;
  Listener listener_;
  HandlerTable handlers_;
  ScheduleTable schedules_;

  std::shared_ptr<Inbox> inbox_ = std::make_shared<Inbox>();
  // No handler is called at or after it; by the node's time.
  std::atomic<Duration::rep> start_limit_ = Duration::min().count();
  // Of the core's thread alone.
  std::unordered_map<AttemptId, std::weak_ptr<AttemptRun>> runs_;
  TimePoint published_at_;
  bool unpublished_ = false;
  std::optional<Stopped> leaving_;

  mutable Mutex mutex_;
  ConditionVariable changed_;
  Core::Status status_ GUARDED_BY(mutex_){};
  std::optional<Stopped> stopped_ GUARDED_BY(mutex_);
  bool started_ GUARDED_BY(mutex_) = false;

  std::atomic<std::uint64_t> turns_ = 0;
  // Submits in the inbox: the core refuses what is too much, but it must come to look at them.
  std::atomic<std::size_t> submits_in_inbox_ = 0;

  std::unique_ptr<store::Hints> hints_;
  // After what they use: they end first.
  std::unique_ptr<StoreCrew> crew_;
  Executor executor_;
  // They should return at once, but are users' code all the same. Neither waits for a handler, nor
  // one for the other, and the core waits for none of them.
  Executor async_starts_;
  Executor stop_callbacks_;
  std::thread core_thread_;
};

}  // namespace recourse::engine

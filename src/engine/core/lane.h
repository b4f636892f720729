// One kind on this node: what of it waits here, what runs, and whether one more may start. Kinds
// share nothing but the executor's threads, and no lane can take them all, so that a sick kind
// stays alone with its sickness.
//
// Thread safety: none; the core owns it.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "base/time.h"
#include "engine/core/lane_queue.h"
#include "engine/core/rules.h"
#include "policy/backoff.h"
#include "policy/circuit_breaker.h"
#include "policy/retry_budget.h"
#include "policy/token_bucket.h"
#include "task/ids.h"
#include "task/record.h"

namespace recourse::engine {

class Lane {
 public:
  // `rules` outlives the lane.
  Lane(task::Kind kind, const KindRules& rules, int threads, TimePoint now);

  [[nodiscard]] const task::Kind& kind() const { return kind_; }
  [[nodiscard]] const KindRules& rules() const { return rules_; }
  LaneQueue& queue() { return queue_; }
  [[nodiscard]] const LaneQueue& queue() const { return queue_; }

  // A task's own, or the kind's; an unknown name falls back to the kind's.
  [[nodiscard]] const policy::Backoff& backoff_of(const task::Task& task);

  // How many more may be claimed, or born claimed: as much as will be run soon, so that no node
  // hoards what another could run. None while the breaker is open or people have paused the kind.
  [[nodiscard]] int room(TimePoint now) const;
  [[nodiscard]] int capacity() const;
  // Born claimed, and not answered yet.
  void reserve() { ++reserved_; }
  void unreserve() { --reserved_; }

  // --- starting ---
  [[nodiscard]] bool has_place() const { return running_ < concurrency_; }
  // Something waits, and neither a pause nor the rate is in its way.
  [[nodiscard]] bool has_next(TimePoint now);
  // When the rate will allow one more; kNever where something else is in the way.
  [[nodiscard]] TimePoint next_start(TimePoint now);
  // How many one thread calls in turn: as many as are over within `most`.
  [[nodiscard]] int in_turn(Duration most) const;
  // Why a task may not run now although there is room; the caller puts it off.
  struct Leave {
    std::optional<policy::Permit> permit;
    std::optional<policy::Decision> put_off;
  };
  Leave ask_leave(const task::Task& task, TimePoint now);
  // Takes a place. Each is answered by ended().
  void started(TimePoint now) { ++running_, last_start_ = now; }
  void ended() { --running_; }
  // For the breaker and for how much is fetched ahead.
  std::optional<policy::BreakerChange> record(std::optional<policy::Permit> permit, bool failed,
                                              Duration took, TimePoint now);
  void abandon(std::optional<policy::Permit> permit);
  // The same of what was never called: the rate has one more.
  void give_back(std::optional<policy::Permit> permit);

  void set_paused(bool paused) { paused_ = paused; }
  [[nodiscard]] bool paused() const { return paused_; }
  // Those who share a limit of the whole cluster.
  void set_live_nodes(int nodes, TimePoint now);
  [[nodiscard]] int running() const { return running_; }
  [[nodiscard]] policy::BreakerState breaker_state() const { return breaker_.state(); }
  [[nodiscard]] std::optional<TimePoint> probes_at() const { return breaker_.probes_at(); }
  // Nothing of it is here, and for so long that its limits have forgotten it too.
  [[nodiscard]] bool is_idle(TimePoint now) const;

  // The last claim brought all it was asked for, or a submit found no room: there may be more.
  bool may_have_more = false;
  // The largest seen, for claims within a bound of bytes.
  std::size_t largest = 0;
  // Tasks of it that the node holds, in whatever stage.
  std::size_t held = 0;

 private:
  [[nodiscard]] int prefetch() const;

  task::Kind kind_;
  const KindRules& rules_;
  int concurrency_whole_;
  int concurrency_;
  policy::CircuitBreaker breaker_;
  std::optional<policy::TokenBucket> rate_;
  std::optional<policy::RetryBudget> budget_;
  std::map<std::string, policy::Backoff> backoffs_;
  LaneQueue queue_;
  int running_ = 0;
  int reserved_ = 0;
  int live_nodes_ = 1;
  bool paused_ = false;
  TimePoint last_start_ = TimePoint::min();
  // Of the last attempts; zero until the first has ended.
  Duration usual_time_{};
};

}  // namespace recourse::engine

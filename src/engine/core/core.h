// The engine of one node as a state machine: events in, commands out. It knows what the node holds,
// when the next thing is to be done, and every rule of the engine; it touches no clock, thread,
// lock, socket or store.
//
//   submit ──> ingest ──Insert──> (born claimed) ──┐
//                                                  v
//   scanner ──Claim──────────────────────────> lane queue ──Start──> handler
//                                                  ^                    │ AttemptEnded, or its
//        wheel (sticky retries) ───────────────────┤                    v time is up
//                                                  └──Apply── outcome line <── decision
//
// Invariants
//   1. A task is held once, in one stage, and has at most one store command in flight.
//   2. Nothing starts unless NodeLife allows it at that very moment, its lane has a place, its kind
//      is not paused, and its time has come and its deadline has not.
//   3. What is held is bounded in count and bytes; so is what waits to be submitted.
//   4. An outcome is kept until the store has answered for it.
//
// `now` is the node's own steady time (base/clock.h); the store's is estimated from its answers.
//
// Thread safety: none.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <unordered_map>
#include <vector>

#include "base/rng.h"
#include "base/time.h"
#include "base/ulid.h"
#include "engine/core/command.h"
#include "engine/core/event.h"
#include "engine/core/held_task.h"
#include "engine/core/ingest.h"
#include "engine/core/lane.h"
#include "engine/core/node_life.h"
#include "engine/core/note_line.h"
#include "engine/core/outcome_line.h"
#include "engine/core/rules.h"
#include "engine/core/scanner.h"
#include "engine/core/schedules.h"
#include "engine/core/settings.h"
#include "engine/core/store_time.h"
#include "engine/core/under_way.h"
#include "policy/batch_controller.h"
#include "task/transition.h"
#include "timing/timing_wheel.h"

namespace recourse::engine {

class Core {
 public:
  // Settings must be valid. The same seed, events and times give the same commands.
  Core(const NodeSettings& settings, KindTable kinds, std::uint64_t seed, TimePoint now,
       std::vector<Schedule> schedules = {});
  ~Core();
  Core(const Core&) = delete;
  Core& operator=(const Core&) = delete;

  void begin(TimePoint now, Commands& out);
  void on(Event event, TimePoint now, Commands& out);
  // After one event or many, and at next_wakeup(): does what has become possible or due.
  void settle(TimePoint now, Commands& out);
  // Nothing needs to be done before; kNever where only an event can change anything.
  [[nodiscard]] TimePoint next_wakeup();
  // After Stopped, when no more events will come: submits that nobody will write any more are
  // answered.
  void abandon(Commands& out);

  // --- for whoever shows the node's state ---
  struct LaneStatus {
    task::Kind kind;
    std::size_t queued;
    int running;
    bool paused;
    policy::BreakerState breaker;
    // While it is open: when it lets some through again. By the node's clock, as all times here.
    std::optional<TimePoint> probes_at = std::nullopt;
    // When the rate lets the next of those that wait start; nothing where it does not hold them up.
    std::optional<TimePoint> rate_allows_at = std::nullopt;
  };
  struct Status {
    task::Incarnation node;
    bool live;
    bool stopping;
    // The store's clock, less the node's.
    Duration store_ahead;
    std::size_t held;
    std::size_t held_bytes;
    std::size_t waiting_in_wheel;
    int executing;
    int batch;
    store::ShardRange shards;
    // A setting, for who explains.
    Duration no_handler_after;
    std::vector<LaneStatus> lanes;
  };
  [[nodiscard]] Status status(TimePoint now) const;

 private:
  // --- submits (core_submits.cc) ---
  void handle(Submit event, TimePoint now, Commands& out);
  void handle(InsertEnded event, TimePoint now, Commands& out);
  void send_inserts(TimePoint now, Commands& out);
  bool claim_at_birth(const store::Submission& submission, TimePoint now);
  void take_in_born(store::Submission submission, const InsertCall& call, TimePoint store_now,
                    TimePoint now);
  void answer_failed(InsertEnded event, const InsertCall& call, TimePoint now, Commands& out);
  void unreserve(const std::vector<store::Submission>& batch);
  // To whoever waits; the core hears its own.
  void answer(AnswerSubmits answers, TimePoint now, Commands& out);
  bool is_own(const SubmitAnswer& answer, TimePoint now, Commands& out);

  // --- claims (core_claims.cc) ---
  void handle(ClaimEnded event, TimePoint now, Commands& out);
  void send_claim(TimePoint now, Commands& out);
  [[nodiscard]] bool wants_claim(TimePoint now) const;
  // Of all kinds together: what fits into the queue, the node's bounds, and one call.
  [[nodiscard]] int claim_limit() const;
  std::vector<store::Quota> quotas(int most, TimePoint now);
  // Of each kind whose payloads this node has not seen yet.
  [[nodiscard]] int first_claim(TimePoint now) const;
  void give_up_without_handler(task::Task task, TimePoint now);
  void handle(const CountsRead& event, TimePoint now, Commands& out);
  void look_for_kinds(TimePoint now, Commands& out);

  // --- attempts (core_dispatch.cc until they start, then core_attempts.cc) ---
  void dispatch(TimePoint now, Commands& out);
  bool start_next(Lane& lane, TimePoint now, Commands& out);
  // The executor is full, and so is the queue.
  void turn_away(HeldTask& held, TimePoint now);
  HeldTask& take_next(Lane& lane);
  // It cannot be run any more.
  bool is_over(HeldTask& held, TimePoint now);
  RunningAttempt& begin_attempt(const HeldTask& held, const std::shared_ptr<Place>& place,
                                std::optional<policy::Permit> permit, TimePoint now);
  Start start(HeldTask& held, RunningAttempt& attempt, TimePoint now);
  void record_starts(TimePoint now, Commands& out);
  void handle(StartsEnded event, TimePoint now, Commands& out);
  void handle(AttemptEnded event, TimePoint now, Commands& out);
  void handle(const AttemptBegun& event, TimePoint now, Commands& out);
  // Those whose handlers have not been called come back.
  void recall_unbegun(Commands& out, const Lane* only = nullptr);
  void end_attempt(HeldTask& held, const RunningAttempt& attempt, AttemptResult result,
                   TimePoint now, Commands& out);
  void not_started(HeldTask& held, const RunningAttempt& attempt, TimePoint now);
  // Of those that should have begun by now.
  void ask_whether_begun(TimePoint now, Commands& out);
  void time_out(RunningAttempt& attempt, TimePoint now, Commands& out);
  [[nodiscard]] bool is_past_deadline(const task::Task& task, TimePoint now) const;
  void stop_attempt_of(const HeldTask& held, StopReason reason, Commands& out);
  void recall_attempt_of(const HeldTask& held, Commands& out);
  [[nodiscard]] bool executor_has_place(const Lane& lane) const;
  [[nodiscard]] bool is_queue_full() const;
  // The last one of a place frees it, in the lane and in the executor.
  void end_place(const RunningAttempt& attempt);
  void forget(RunningAttempt& attempt);
  // It has not been called and will not be.
  void take_back(RunningAttempt& attempt);
  void tell(const Lane& lane, const std::optional<policy::BreakerChange>& change, Commands& out);

  // --- outcomes (core_outcomes.cc) ---
  // What a decision comes to, written down. `attempt` is empty where nothing was run.
  void lend(HeldTask& held, const RunningAttempt& attempt, const HandedOver& handed, TimePoint now);
  void decide(HeldTask& held, const policy::Decision& decision, const RunningAttempt* attempt,
              TimePoint now);
  void succeed(HeldTask& held, const RunningAttempt& attempt, TimePoint now);
  void end_by_deadline(HeldTask& held, TimePoint now);
  // Back to the store, without having run.
  void release(HeldTask& held, TimePoint due_at, TimePoint now);
  void count_attempt(task::Transition& change, const HeldTask& held,
                     const RunningAttempt& attempt) const;
  void write(HeldTask& held, store::Outcome outcome, News news);
  void send_outcomes(TimePoint now, Commands& out);
  void handle(ApplyEnded event, TimePoint now, Commands& out);
  void applied(const store::Outcome& outcome, const store::Applied& answer, TimePoint now,
               Commands& out);
  void wait_in_wheel(HeldTask& held, TimePoint now);

  // --- holding (core.cc) ---
  HeldTask& hold(task::Task task);
  void drop(HeldTask& held);
  void supersede(HeldTask& older);
  void enqueue(HeldTask& held);
  void leave_stage(HeldTask& held);
  void set_stage(HeldTask& held, Stage stage);
  HeldTask* find_held(const task::TaskId& id);
  Lane* lane_of(const task::Kind& kind, TimePoint now);
  [[nodiscard]] bool has_hold_room() const;

  // --- the node (core_life.cc) ---
  void handle(const WorkHint& event, TimePoint now, Commands& out);
  void handle(const RequestHint& event, TimePoint now, Commands& out);
  void handle(const JoinEnded& event, TimePoint now, Commands& out);
  void handle(const HeartbeatEnded& event, TimePoint now, Commands& out);
  void handle(const NodesRead& event, TimePoint now, Commands& out);
  void handle(const DeclareEnded& event, TimePoint now, Commands& out);
  void handle(const AdoptEnded& event, TimePoint now, Commands& out);
  void handle(const HeldRead& event, TimePoint now, Commands& out);
  void handle(const TasksRead& event, TimePoint now, Commands& out);
  void obey(const std::vector<store::ControlRequest>& requests, TimePoint now, Commands& out);
  void obey(const store::Pauses& pauses, TimePoint now, Commands& out);
  void drop_what_has_not_started();
  void reconcile(TimePoint now, Commands& out);
  [[nodiscard]] bool is_in_flight(const task::LeaseId& lease) const;

  // --- stopping (core_stop.cc) ---
  void handle(const StopRequest& event, TimePoint now, Commands& out);
  void go_on_stopping(TimePoint now, Commands& out);
  void release_unstarted(TimePoint now);
  void cut_off(Commands& out);
  // Of calls that a stop waits for.
  [[nodiscard]] Duration call_timeout(TimePoint now) const;

  // --- schedules (core_schedules.cc) ---
  void submit_occurrences(TimePoint now, Commands& out);
  // An occurrence was not taken.
  void hear(const task::TaskId& id, const Error& error, TimePoint now, Commands& out);

  // --- notes (core_notes.cc) ---
  void handle(const AttemptNoted& event, TimePoint now, Commands& out);
  void handle(const NotesEnded& event, TimePoint now, Commands& out);
  void send_notes(TimePoint now, Commands& out);

  // --- follow-ups (core_follow_ups.cc) ---
  bool hold_back(HeldTask& held, store::Outcome& outcome, const News& news);
  void send_follow_ups(TimePoint now);
  void follow_up_answered(const SubmitAnswer& answer, TimePoint now);
  void follow_ups_written(HeldTask& held, TimePoint now);
  void give_up_following(HeldTask& held, Following following, TimePoint now);
  [[nodiscard]] TimePoint next_follow_up() const;

  const NodeSettings settings_;
  const KindTable kinds_;
  Rng rng_;
  UlidSequence ids_;
  StoreTime store_time_;
  NodeLife life_;
  timing::TimingWheel wheel_;
  policy::BatchController batch_;
  Scanner scanner_;
  Ingest ingest_;
  OutcomeLine outcomes_;

  std::map<task::Kind, std::unique_ptr<Lane>> lanes_;
  task::Kind served_last_;
  std::unordered_map<task::TaskId, std::unique_ptr<HeldTask>> held_;
  std::unordered_map<task::TaskId, News> news_;
  std::size_t held_bytes_ = 0;
  std::size_t queued_ = 0;  // in all lanes together
  std::uint64_t changes_ = 0;

  std::map<AttemptId, std::unique_ptr<RunningAttempt>> attempts_;
  std::map<task::TaskId, AttemptId> attempt_of_;
  // In the order in which they were handed over, ended ones among them.
  std::deque<ToBegin> to_begin_;
  int executing_ = 0;
  std::vector<store::Held> starts_to_record_;
  bool recording_starts_ = false;
  TimePoint record_not_before_ = TimePoint::min();

  std::map<CallId, InsertCall> inserts_;
  std::optional<ClaimCall> claim_;
  std::uint64_t calls_ = 0;
  std::size_t claim_turns_ = 0;
  std::uint64_t attempt_ids_ = 0;

  store::Pauses pauses_;
  Reconciling reconciling_;
  // Of claims and inserts that ended since rows were asked for: what those rows say is older.
  std::set<task::LeaseId> ended_since_read_;
  // Rows of this node that it does not hold, on their way back.
  std::set<task::TaskId> reconciled_;
  TimePoint next_reconcile_ = kNever;
  TimePoint next_counts_ = kNever;
  bool reading_counts_ = false;
  // Kinds with due tasks that no live node lists, and since when.
  std::map<task::Kind, TimePoint> nobodys_;
  std::optional<Stopping> stopping_;
  TimePoint settled_at_;
  // Something was left in the store that is due, and not this node's.
  bool hint_others_ = false;
  Schedules schedules_;
  NoteLine notes_;
  std::map<task::TaskId, Following> following_;
  std::map<SubmitId, FollowUp> follow_ups_out_;
  std::uint64_t follow_up_ids_ = 0;
};

}  // namespace recourse::engine

#include "engine/core/core.h"

#include <algorithm>
#include <utility>

#include "base/field_checks.h"
#include "base/invariant.h"
#include "base/planted_bug.h"

namespace recourse::engine {

Core::Core(const NodeSettings& settings, KindTable kinds, std::uint64_t seed, TimePoint now,
           std::vector<Schedule> schedules)
    : settings_(checked(settings)),
      kinds_(std::move(kinds)),
      rng_(seed),
      ids_(seed ^ 0x9E37'79B9'7F4A'7C15),
      life_(settings_, kinds_.names(), ids_),
      wheel_(now, settings_.wheel),
      batch_(settings_.batch),
      scanner_(settings_.scan),
      ingest_(settings_.ingest),
      outcomes_(settings_.apply_calls),
      schedules_(std::move(schedules), settings_.lease.ttl) {
  for (const task::Kind& kind : kinds_.whole_names()) (void)lane_of(kind, now);
}

// A node that ends while something still waits or runs, cut off or not, takes its timers with it.
Core::~Core() {
  for (const auto& [id, held] : held_) wheel_.cancel(*held);
  for (const auto& [id, attempt] : attempts_) wheel_.cancel(*attempt);
}

void Core::begin(TimePoint now, Commands& out) { life_.begin(now, out); }

void Core::on(Event event, TimePoint now, Commands& out) {
  std::visit([&](auto& one) { handle(std::move(one), now, out); }, event);
}

void Core::settle(TimePoint now, Commands& out) {
  settled_at_ = now;
  const bool is_silent =
      planted(PlantedBug::kHeartbeatStopsFirst) && stopping_ && !stopping_->leaving;
  if (!is_silent) life_.on_time(now, out);
  wheel_.advance_to(now, [&](timing::Timer& timer) {
    auto& core_timer = static_cast<CoreTimer&>(timer);
    if (core_timer.what == CoreTimer::What::kSticky) {
      enqueue(static_cast<HeldTask&>(core_timer));
    } else {
      time_out(static_cast<RunningAttempt&>(core_timer), now, out);
    }
  });
  ask_whether_begun(now, out);
  if (stopping_) go_on_stopping(now, out);
  submit_occurrences(now, out);
  send_follow_ups(now);
  dispatch(now, out);
  // After it: what has just been handed over leaves its room to the newborn.
  send_inserts(now, out);
  record_starts(now, out);
  send_outcomes(now, out);
  send_claim(now, out);
  look_for_kinds(now, out);
  reconcile(now, out);
  send_notes(now, out);
  if (std::exchange(hint_others_, false)) out.emplace_back(HintOthers{});
}

TimePoint Core::next_wakeup() {
  TimePoint next = std::min({life_.next_wakeup(), outcomes_.next_wakeup(), ingest_.next_wakeup(),
                             notes_.next_wakeup(), next_follow_up()});
  if (const auto timer = wheel_.next_wakeup()) next = std::min(next, *timer);
  if (!to_begin_.empty()) next = std::min(next, to_begin_.front().by);
  if (stopping_ && !stopping_->leaving) {
    next =
        std::min(next, stopping_->flush_by == kNever ? stopping_->limit_at : stopping_->flush_by);
  }
  if (!starts_to_record_.empty() && !recording_starts_) next = std::min(next, record_not_before_);
  if (!life_.is_live() || stopping_) return next;
  next = std::min(next, store_time_.local(schedules_.next_wakeup()));
  if (!reconciling_.out) next = std::min(next, next_reconcile_);
  // While fenced none of these can be done: the heartbeat's answer is what changes that, and a node
  // that were woken for them in vain would spin through an outage.
  if (!life_.may_act(settled_at_)) return next;
  if (!claim_) next = std::min(next, scanner_.next_wakeup());
  if (!reading_counts_) next = std::min(next, next_counts_);
  for (const auto& [kind, lane] : lanes_) {
    // Where only the rate is in the way.
    if (executor_has_place(*lane)) next = std::min(next, lane->next_start(settled_at_));
  }
  return next;
}

HeldTask* Core::find_held(const task::TaskId& id) {
  const auto found = held_.find(id);
  return found == held_.end() ? nullptr : found->second.get();
}

bool Core::has_hold_room() const {
  return held_.size() < settings_.hold.tasks && held_bytes_ < settings_.hold.bytes;
}

HeldTask& Core::hold(task::Task task) {
  const task::TaskId id = task.id;
  held_bytes_ += bytes_of(task);
  const auto lane = lanes_.find(task.spec.kind);
  auto held = std::make_unique<HeldTask>(std::make_shared<const task::Task>(std::move(task)),
                                         lane == lanes_.end() ? nullptr : lane->second.get());
  if (held->lane != nullptr) ++held->lane->held;
  const auto [place, is_new] = held_.emplace(id, std::move(held));
  invariant(is_new, "a task is held once");
  return *place->second;
}

void Core::drop(HeldTask& held) {
  leave_stage(held);
  if (held.lane != nullptr) --held.lane->held;
  held_bytes_ -= bytes_of(*held.task);
  const task::TaskId id = held.task->id;
  news_.erase(id);
  if (const auto following = following_.extract(id)) held_bytes_ -= following.mapped().bytes;
  held_.erase(id);
}

// The store has just given the task to this node once more, so what is held of it is over there,
// although its own answer is still to come: its write was committed, or its incarnation died.
void Core::supersede(HeldTask& older) {
  if (older.stage == Stage::kRecording) {
    take_back(*attempts_.at(attempt_of_.at(older.task->id)));
  }
  drop(older);
}

// Takes it out of wherever it waits.
void Core::leave_stage(HeldTask& held) {
  if (held.stage == Stage::kQueued && held.lane != nullptr && held.lane->queue().remove(held)) {
    --queued_;
  }
  if (held.stage == Stage::kWaiting) wheel_.cancel(held);
}

void Core::set_stage(HeldTask& held, Stage stage) {
  leave_stage(held);
  held.stage = stage;
  held.changed = ++changes_;
}

void Core::enqueue(HeldTask& held) {
  set_stage(held, Stage::kQueued);
  invariant(held.lane != nullptr, "only what has a handler waits for one");
  held.lane->queue().push(held);
  ++queued_;
}

Lane* Core::lane_of(const task::Kind& kind, TimePoint now) {
  const auto known = lanes_.find(kind);
  if (known != lanes_.end()) return known->second.get();
  const KindRules* rules = kinds_.find(kind);
  if (rules == nullptr) return nullptr;
  auto lane = std::make_unique<Lane>(kind, *rules, settings_.executor.max_threads, now);
  lane->set_paused(std::ranges::find(pauses_.kinds, kind) != pauses_.kinds.end());
  lane->set_live_nodes(life_.live_nodes(), now);
  return lanes_.emplace(kind, std::move(lane)).first->second.get();
}

Core::Status Core::status(TimePoint now) const {
  Status status{.node = life_.incarnation(),
                .live = life_.may_act(now),
                .stopping = stopping_.has_value(),
                .store_ahead = store_time_.at(now) - now,
                .held = held_.size(),
                .held_bytes = held_bytes_,
                .waiting_in_wheel = wheel_.pending(),
                .executing = executing_,
                .batch = batch_.batch(),
                .shards = settings_.shards,
                .no_handler_after = settings_.no_handler_after,
                .lanes = {}};
  for (const auto& [kind, lane] : lanes_) {
    const TimePoint next_start = lane->next_start(now);
    const bool waits_for_rate = next_start > now && next_start != kNever;
    status.lanes.push_back(
        {.kind = kind,
         .queued = lane->queue().size(),
         .running = lane->running(),
         .paused = lane->paused(),
         .breaker = lane->breaker_state(),
         .probes_at = lane->probes_at(),
         .rate_allows_at = waits_for_rate ? std::optional(next_start) : std::nullopt});
  }
  return status;
}

}  // namespace recourse::engine

// Attempts: when one starts, when its time is up, and what its end means.
#include <algorithm>
#include <utility>

#include "base/planted_bug.h"
#include "engine/core/core.h"

namespace recourse::engine {
namespace {

// After an error nobody hammers the store with it.
constexpr Duration kRecordPause = std::chrono::milliseconds(200);

}  // namespace

bool Core::executor_has_place(const Lane& lane) const {
  if (lane.rules().settings.asynchronous) return true;
  // Never more than there are threads: what waits, waits in its lane, where its time does not run
  // and a pause or a cancellation finds it.
  const bool caller_runs =
      settings_.executor.rejection == Rejection::kCallerRuns && is_queue_full();
  return executing_ < settings_.executor.max_threads + (caller_runs ? 1 : 0);
}

std::size_t Core::queued() const {
  std::size_t sum = 0;
  for (const auto& [kind, lane] : lanes_) sum += lane->queue().size();
  return sum;
}

bool Core::is_queue_full() const {
  return queued() > static_cast<std::size_t>(settings_.executor.queue);
}

void Core::dispatch(TimePoint now, Commands& out) {
  if (stopping_ || !life_.may_act(now) || lanes_.empty()) return;
  // Lanes in turns, beginning behind the one that was served last.
  auto next = lanes_.upper_bound(served_last_);
  for (std::size_t idle = 0; idle < lanes_.size();) {
    if (next == lanes_.end()) next = lanes_.begin();
    Lane& lane = *next->second;
    if (lane.may_start(now) && start_next(lane, now, out)) {
      served_last_ = next->first;
      idle = 0;
    } else {
      ++idle;
    }
    ++next;
  }
}

// False where the lane has to wait.
bool Core::start_next(Lane& lane, TimePoint now, Commands& out) {
  const bool has_place = executor_has_place(lane);
  const bool waits = settings_.executor.rejection == Rejection::kCallerRuns || !is_queue_full();
  if (!has_place && waits) return false;
  HeldTask& held = *lane.queue().pop();
  const task::Task& task = *held.task;
  if (!has_place) {
    turn_away(held, now);
  } else if (task.owner != task::Owner(life_.incarnation()) &&
             !planted(PlantedBug::kRunsAfterDeath)) {
    drop(held);  // from before this node was declared dead: others have it now
  } else if (is_past_deadline(task, now)) {
    end_by_deadline(held, now);
  } else if (const Lane::Leave leave = lane.ask_leave(task, now); leave.put_off) {
    decide(held, *leave.put_off, nullptr, now);
  } else {
    begin_attempt(held, leave.permit, now, out);
  }
  return true;
}

void Core::turn_away(HeldTask& held, TimePoint now) {
  if (settings_.executor.rejection == Rejection::kHandBack) {
    release(held, store_time_.at(now), now);
    return;
  }
  decide(held, policy::put_off(policy::Category::kBulkheadFull, "every thread of the node is busy"),
         nullptr, now);
}

void Core::begin_attempt(HeldTask& held, std::optional<policy::Permit> permit, TimePoint now,
                         Commands& out) {
  const task::Task& task = *held.task;
  auto attempt = std::make_unique<RunningAttempt>();
  attempt->id = AttemptId(++attempt_ids_);
  attempt->task = task.id;
  attempt->fence = task.ticket.fence;
  attempt->lane = held.lane;
  attempt->permit = permit;
  held.lane->started();
  if (!held.lane->rules().settings.asynchronous) ++executing_;
  attempt_of_[task.id] = attempt->id;
  RunningAttempt& begun = *attempts_.emplace(attempt->id, std::move(attempt)).first->second;
  if (task.start == task::StartMark::kAsked && !planted(PlantedBug::kStartsNotRecorded)) {
    set_stage(held, Stage::kRecording);
    starts_to_record_.push_back({.task = task.id, .ticket = task.ticket});
  } else {
    start(held, begun, now, out);
  }
}

void Core::start(HeldTask& held, RunningAttempt& attempt, TimePoint now, Commands& out) {
  const task::Task& task = *held.task;
  set_stage(held, Stage::kRunning);
  attempt.started_at = now;
  const TimePoint ends_at = saturating_add(now, task.spec.timeout);
  // Where the wheel is full the executor's own deadline must do: the token still stops it.
  (void)wheel_.schedule(attempt, ends_at);
  const bool may_have_happened = task.start != task::StartMark::kNone ||
                                 (task.last_error && task.last_error->code == "TIMEOUT");
  out.emplace_back(
      Start{.attempt = attempt.id,
            .task = held.task,
            .number = task.attempts + 1,
            .started_at = now,
            .ends_at = ends_at,
            .probe_first = held.lane->rules().settings.has_probe && may_have_happened});
}

void Core::record_starts(TimePoint now, Commands& out) {
  if (recording_starts_ || starts_to_record_.empty() || now < record_not_before_) return;
  recording_starts_ = true;
  const std::size_t rows = std::min(starts_to_record_.size(), store::kBatchRowsMax);
  const auto end = starts_to_record_.begin() + static_cast<std::ptrdiff_t>(rows);
  std::vector<store::Held> batch(starts_to_record_.begin(), end);
  starts_to_record_.erase(starts_to_record_.begin(), end);
  out.emplace_back(RecordStarts{
      .call = CallId(++calls_), .batch = std::move(batch), .within = settings_.store_timeout});
}

void Core::handle(StartsEnded event, TimePoint now, Commands& out) {
  recording_starts_ = false;
  if (!event.answer) record_not_before_ = now + kRecordPause;
  for (std::size_t i = 0; i < event.batch.size(); ++i) {
    HeldTask* held = find_held(event.batch[i].task);
    if (held == nullptr || held->stage != Stage::kRecording ||
        held->task->ticket != event.batch[i].ticket) {
      continue;
    }
    RunningAttempt& attempt = *attempts_.at(attempt_of_.at(held->task->id));
    // Much may have changed while it was written down: a pause, a deadline, the node itself.
    const bool may_go_on = !stopping_ && life_.may_act(now) && !held->lane->paused();
    if (!event.answer && may_go_on) {
      starts_to_record_.push_back(event.batch[i]);
      continue;
    }
    const bool is_mine = event.answer && (*event.answer)[i];
    if (is_mine && may_go_on && !is_past_deadline(*held->task, now)) {
      start(*held, attempt, now, out);
      continue;
    }
    end_place(attempt);
    attempt.lane->abandon(attempt.permit);
    forget(attempt);
    if (event.answer && !is_mine) {
      out.emplace_back(Happening(
          NodeHappened{NodeEvent::kRefused, "start of " + task::to_string(held->task->id)}));
      drop(*held);
    } else if (stopping_ || held->lane->paused()) {
      release(*held, stopping_ ? store_time_.at(now) : held->task->due_at, now);
    } else {
      enqueue(*held);
    }
  }
}

bool Core::is_past_deadline(const task::Task& task, TimePoint now) const {
  return task.spec.deadline && store_time_.at(now) > *task.spec.deadline &&
         !planted(PlantedBug::kDeadlineIgnored);
}

void Core::end_place(const RunningAttempt& attempt) {
  attempt.lane->ended();
  if (!attempt.lane->rules().settings.asynchronous) --executing_;
}

void Core::forget(RunningAttempt& attempt) {
  wheel_.cancel(attempt);
  notes_.forget(attempt.id);
  const auto newest = attempt_of_.find(attempt.task);
  if (newest != attempt_of_.end() && newest->second == attempt.id) attempt_of_.erase(newest);
  const AttemptId id = attempt.id;
  attempts_.erase(id);
}

void Core::handle(AttemptEnded event, TimePoint now, Commands& out) {
  const auto found = attempts_.find(event.attempt);
  if (found == attempts_.end()) return;
  RunningAttempt& attempt = *found->second;
  end_place(attempt);
  HeldTask* held = find_held(attempt.task);
  const bool is_current = held != nullptr && held->stage == Stage::kRunning &&
                          held->task->ticket.fence == attempt.fence && !attempt.decided;
  if (is_current) {
    held->follow_ups = std::move(event.follow_ups);
    end_attempt(*held, attempt, std::move(event.result), now, out);
  } else if (!attempt.decided) {
    attempt.lane->abandon(attempt.permit);
  }
  forget(attempt);
}

void Core::end_attempt(HeldTask& held, const RunningAttempt& attempt, AttemptResult result,
                       TimePoint now, Commands& out) {
  Lane& lane = *attempt.lane;
  if (std::holds_alternative<NotStarted>(result)) {
    not_started(held, attempt, now);
    return;
  }
  const Duration took = now - attempt.started_at;
  if (std::holds_alternative<Succeeded>(result)) {
    tell(lane, lane.record(attempt.permit, false, took, now), out);
    succeed(held, attempt, now);
    return;
  }
  policy::Decision decision;
  if (const auto* failed = std::get_if<Failed>(&result)) {
    decision = lane.rules().router.decide(failed->failure);
  } else {
    decision = std::get<Decided>(result).decision;
  }
  // A handler that snoozes, pauses or cancels says nothing bad of its downstream.
  const bool is_bad = !decision.snooze && decision.outcome != policy::Outcome::kPaused &&
                      decision.outcome != policy::Outcome::kCancelled;
  tell(lane, lane.record(attempt.permit, is_bad, took, now), out);
  decide(held, decision, &attempt, now);
}

void Core::not_started(HeldTask& held, const RunningAttempt& attempt, TimePoint now) {
  attempt.lane->abandon(attempt.permit);
  if (attempt.told_to_stop || stopping_) {
    release(held, stopping_ ? store_time_.at(now) : held.task->due_at, now);
  } else {
    enqueue(held);
  }
}

// The handler may go on: its thread and its place in the lane are taken until it returns.
void Core::time_out(RunningAttempt& attempt, TimePoint now, Commands& out) {
  attempt.decided = true;
  out.emplace_back(StopAttempt{.attempt = attempt.id, .reason = StopReason::kTimeout});
  HeldTask* held = find_held(attempt.task);
  if (held == nullptr || held->stage != Stage::kRunning ||
      held->task->ticket.fence != attempt.fence) {
    attempt.lane->abandon(attempt.permit);
    return;
  }
  tell(*attempt.lane, attempt.lane->record(attempt.permit, true, now - attempt.started_at, now),
       out);
  const policy::Decision decision = attempt.lane->rules().router.decide(
      policy::Failure(policy::TimedOut{held->task->spec.timeout}));
  decide(*held, decision, &attempt, now);
}

void Core::stop_attempt_of(const HeldTask& held, StopReason reason, Commands& out) {
  const auto found = attempt_of_.find(held.task->id);
  if (found == attempt_of_.end()) return;
  RunningAttempt& attempt = *attempts_.at(found->second);
  if (std::exchange(attempt.told_to_stop, true)) return;
  out.emplace_back(StopAttempt{.attempt = attempt.id, .reason = reason});
}

void Core::tell(const Lane& lane, const std::optional<policy::BreakerChange>& change,
                Commands& out) {
  if (change) out.emplace_back(Happening(BreakerChanged{lane.kind(), *change}));
}

}  // namespace recourse::engine

// Attempts under way: whether they have begun, when their time is up, and what their end means.
#include <algorithm>
#include <utility>

#include "base/planted_bug.h"
#include "engine/core/core.h"

namespace recourse::engine {

bool Core::is_past_deadline(const task::Task& task, TimePoint now) const {
  return task.spec.deadline && store_time_.at(now) > *task.spec.deadline &&
         !planted(PlantedBug::kDeadlineIgnored);
}

void Core::end_place(const RunningAttempt& attempt) {
  Place& place = *attempt.place;
  if (--place.attempts > 0) return;
  place.lane.ended();
  if (!place.lane.rules().settings.asynchronous) --executing_;
}

void Core::forget(RunningAttempt& attempt) {
  wheel_.cancel(attempt);
  notes_.forget(attempt.id);
  const auto newest = attempt_of_.find(attempt.task);
  if (newest != attempt_of_.end() && newest->second == attempt.id) attempt_of_.erase(newest);
  const AttemptId id = attempt.id;
  attempts_.erase(id);
}

void Core::take_back(RunningAttempt& attempt) {
  end_place(attempt);
  attempt.place->lane.abandon(attempt.permit);
  forget(attempt);
}

void Core::handle(AttemptEnded event, TimePoint now, Commands& out) {
  const auto found = attempts_.find(event.attempt);
  if (found == attempts_.end()) return;
  RunningAttempt& attempt = *found->second;
  if (event.took) attempt.started_at = now - *event.took;
  attempt.begun = true;  // or never will: nobody asks any more
  HeldTask* held = find_held(attempt.task);
  const bool is_current = held != nullptr && held->stage == Stage::kRunning &&
                          held->task->ticket.fence == attempt.fence && !attempt.decided;
  end_place(attempt);
  if (is_current) {
    held->follow_ups = std::move(event.follow_ups);
    // Quicker than the core could look, and still too late.
    if (event.took && *event.took > attempt.timeout) {
      event.result = Failed{policy::TimedOut{attempt.timeout}};
      held->follow_ups.clear();
    }
    end_attempt(*held, attempt, std::move(event.result), now, out);
  } else if (!attempt.decided) {
    attempt.place->lane.abandon(attempt.permit);
  }
  forget(attempt);
}

void Core::handle(const AttemptBegun& event, TimePoint, Commands&) {
  const auto found = attempts_.find(event.attempt);
  if (found == attempts_.end() || found->second->begun) return;
  RunningAttempt& attempt = *found->second;
  attempt.begun = true;
  attempt.started_at = event.at;
  // Also where the task is another's by now: its thread is not. The wheel has room for what is
  // held.
  (void)wheel_.schedule(attempt, saturating_add(event.at, attempt.timeout));
}

void Core::recall_unbegun(Commands& out, const Lane* only) {
  for (const auto& [id, attempt] : attempts_) {
    if (attempt->begun || attempt->decided) continue;
    if (only == nullptr || &attempt->place->lane == only) out.emplace_back(Recall{id});
  }
}

void Core::end_attempt(HeldTask& held, const RunningAttempt& attempt, AttemptResult result,
                       TimePoint now, Commands& out) {
  Lane& lane = attempt.place->lane;
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
  if (const auto* handed = std::get_if<HandedOver>(&result)) {
    tell(lane, lane.record(attempt.permit, false, took, now), out);
    lend(held, attempt, *handed, now);
    return;
  }
  if (const auto* decided = std::get_if<Decided>(&result);
      decided != nullptr && !decided->attempted) {
    lane.give_back(attempt.permit);
    decide(held, decided->decision, nullptr, now);
    return;
  }
  policy::Decision decision;
  if (const auto* failed = std::get_if<Failed>(&result)) {
    decision = lane.rules().router.decide(failed->failure);
  } else {
    decision = std::get<Decided>(result).decision;
  }
  const bool is_bad = policy::blames_downstream(decision);
  tell(lane, lane.record(attempt.permit, is_bad, took, now), out);
  decide(held, decision, &attempt, now);
}

void Core::not_started(HeldTask& held, const RunningAttempt& attempt, TimePoint now) {
  Lane& lane = attempt.place->lane;
  lane.give_back(attempt.permit);
  if (attempt.told_to_stop || attempt.unwanted || stopping_ || lane.paused()) {
    release(held, stopping_ ? store_time_.at(now) : held.task->due_at, now);
  } else {
    enqueue(held);
  }
}

void Core::ask_whether_begun(TimePoint now, Commands& out) {
  while (!to_begin_.empty()) {
    const auto& [by, id] = to_begin_.front();
    const auto found = attempts_.find(id);
    const bool waits = found != attempts_.end() && !found->second->begun;
    if (waits && by > now) return;
    if (waits) out.emplace_back(Recall{id});
    to_begin_.pop_front();
  }
}

// The handler may go on: its thread and its place in the lane are taken until it returns.
void Core::time_out(RunningAttempt& attempt, TimePoint now, Commands& out) {
  attempt.decided = true;
  out.emplace_back(StopAttempt{.attempt = attempt.id, .reason = StopReason::kTimeout});
  Lane& lane = attempt.place->lane;
  HeldTask* held = find_held(attempt.task);
  if (held == nullptr || held->stage != Stage::kRunning ||
      held->task->ticket.fence != attempt.fence) {
    lane.abandon(attempt.permit);
    return;
  }
  tell(lane, lane.record(attempt.permit, true, now - attempt.started_at, now), out);
  const policy::Decision decision =
      lane.rules().router.decide(policy::Failure(policy::TimedOut{held->task->spec.timeout}));
  decide(*held, decision, &attempt, now);
}

void Core::recall_attempt_of(const HeldTask& held, Commands& out) {
  const auto found = attempt_of_.find(held.task->id);
  if (found == attempt_of_.end()) return;
  RunningAttempt& attempt = *attempts_.at(found->second);
  if (attempt.begun) return;
  attempt.unwanted = true;
  out.emplace_back(Recall{attempt.id});
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
  if (!change) return;
  out.emplace_back(Happening(BreakerChanged{lane.kind(), *change}));
  // What was handed over before, and not called, is put off like all that comes now.
  if (change->to == policy::BreakerState::kOpen) recall_unbegun(out, &lane);
}

}  // namespace recourse::engine

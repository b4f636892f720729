// Which task starts next, where, and when: lanes in turns, while the executor has a place.
#include <algorithm>
#include <utility>

#include "base/planted_bug.h"
#include "engine/core/core.h"

namespace recourse::engine {
namespace {

// After an error nobody hammers the store with it.
constexpr Duration kRecordPause = std::chrono::milliseconds(200);

// An owner of it was lost: its start is written down before the handler is called.
bool is_recorded_first(const task::Task& task) {
  return task.start == task::StartMark::kAsked && !planted(PlantedBug::kStartsNotRecorded);
}

}  // namespace

bool Core::executor_has_place(const Lane& lane) const {
  if (lane.rules().settings.asynchronous) return true;
  // Never more than there are threads: what waits, waits in its lane, where its time does not run
  // and a pause or a cancellation finds it.
  const bool caller_runs =
      settings_.executor.rejection == Rejection::kCallerRuns && is_queue_full();
  return executing_ < settings_.executor.max_threads + (caller_runs ? 1 : 0);
}

bool Core::is_queue_full() const {
  return queued_ > static_cast<std::size_t>(settings_.executor.queue);
}

void Core::dispatch(TimePoint now, Commands& out) {
  if (stopping_ || !life_.may_act(now) || lanes_.empty()) return;
  // Lanes in turns, beginning behind the one that was served last.
  auto next = lanes_.upper_bound(served_last_);
  for (std::size_t idle = 0; idle < lanes_.size();) {
    if (next == lanes_.end()) next = lanes_.begin();
    Lane& lane = *next->second;
    if (lane.has_place() && lane.has_next(now) && start_next(lane, now, out)) {
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
  if (!executor_has_place(lane)) {
    if (settings_.executor.rejection == Rejection::kCallerRuns || !is_queue_full()) return false;
    turn_away(take_next(lane), now);
    return true;
  }
  Run run;
  const auto place = std::make_shared<Place>(Place{.lane = lane});
  for (int left = lane.in_turn(settings_.executor.in_turn_for); left > 0 && lane.has_next(now);
       --left) {
    HeldTask& held = take_next(lane);
    if (is_recorded_first(*held.task) && place->attempts > 0) {
      // It waits for the store, and nobody waits behind it: it needs a place of its own.
      ++queued_;
      lane.queue().put_back(held);
      break;
    }
    if (is_over(held, now)) continue;
    const Lane::Leave leave = lane.ask_leave(*held.task, now);
    if (leave.put_off) {
      decide(held, *leave.put_off, nullptr, now);
      continue;
    }
    RunningAttempt& attempt = begin_attempt(held, place, leave.permit, now);
    if (is_recorded_first(*held.task)) {
      set_stage(held, Stage::kRecording);
      starts_to_record_.push_back({.task = held.task->id, .ticket = held.task->ticket});
      break;
    }
    run.in_turn.push_back(start(held, attempt, now));
  }
  if (!run.in_turn.empty()) out.emplace_back(std::move(run));
  return true;
}

HeldTask& Core::take_next(Lane& lane) {
  --queued_;
  return *lane.queue().pop();
}

void Core::turn_away(HeldTask& held, TimePoint now) {
  if (settings_.executor.rejection == Rejection::kHandBack) {
    release(held, store_time_.at(now), now);
    return;
  }
  decide(held, policy::put_off(policy::Category::kBulkheadFull, "every thread of the node is busy"),
         nullptr, now);
}

bool Core::is_over(HeldTask& held, TimePoint now) {
  const task::Task& task = *held.task;
  if (task.owner != task::Owner(life_.incarnation()) && !planted(PlantedBug::kRunsAfterDeath)) {
    drop(held);  // from before this node was declared dead: others have it now
    return true;
  }
  if (!is_past_deadline(task, now)) return false;
  end_by_deadline(held, now);
  return true;
}

RunningAttempt& Core::begin_attempt(const HeldTask& held, const std::shared_ptr<Place>& place,
                                    std::optional<policy::Permit> permit, TimePoint now) {
  auto attempt = std::make_unique<RunningAttempt>();
  attempt->id = AttemptId(++attempt_ids_);
  attempt->task = held.task->id;
  attempt->fence = held.task->ticket.fence;
  attempt->place = place;
  attempt->permit = permit;
  attempt->timeout = held.task->spec.timeout;
  if (place->attempts++ == 0) {
    place->lane.started(now);
    if (!place->lane.rules().settings.asynchronous) ++executing_;
  }
  attempt_of_[attempt->task] = attempt->id;
  return *attempts_.emplace(attempt->id, std::move(attempt)).first->second;
}

Start Core::start(HeldTask& held, RunningAttempt& attempt, TimePoint now) {
  const task::Task& task = *held.task;
  set_stage(held, Stage::kRunning);
  attempt.started_at = now;
  // Its time runs from the call of its handler, which the core asks for only where it matters: most
  // have ended by then.
  if (held.lane->rules().settings.asynchronous) {
    // Handed over alone, and its own place is all it takes: doing so again would gain nothing.
    (void)wheel_.schedule(attempt, saturating_add(now, attempt.timeout));
  } else {
    to_begin_.push_back({.by = now + settings_.executor.begin_within, .attempt = attempt.id});
  }
  const bool may_have_happened =
      task.start != task::StartMark::kNone ||
      (task.last_error && policy::leaves_in_doubt(task.last_error->code));
  const bool has_deadline = task.spec.deadline && !planted(PlantedBug::kDeadlineIgnored);
  return {.attempt = attempt.id,
          .task = held.task,
          .number = task.attempts + 1,
          .start_by = has_deadline ? store_time_.local(*task.spec.deadline) : kNever,
          .probe_first = held.lane->rules().settings.has_probe && may_have_happened};
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
      out.emplace_back(Run{{start(*held, attempt, now)}});
      continue;
    }
    take_back(attempt);
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

}  // namespace recourse::engine

// From a decision to a row in the store, and what follows when it is there.
#include <algorithm>
#include <utility>

#include "base/invariant.h"
#include "base/planted_bug.h"
#include "engine/core/attempt_row.h"
#include "engine/core/core.h"

namespace recourse::engine {

// A handler was called.
void Core::count_attempt(task::Transition& change, const HeldTask& held,
                         const RunningAttempt& attempt) const {
  change.attempts = held.task->attempts + (planted(PlantedBug::kAttemptCountedTwice) ? 2 : 1);
  if (!change.first_started_at) change.first_started_at = store_time_.at(attempt.started_at);
}

void Core::succeed(HeldTask& held, const RunningAttempt& attempt, TimePoint now) {
  store::Outcome outcome{
      .transition = task::plan(*held.task, task::Move::kSucceed, store_time_.at(now)),
      .attempt = std::nullopt};
  count_attempt(outcome.transition, held, attempt);
  outcome.transition.error.reset();
  outcome.notes = notes_.take_of(attempt.id);
  write(held, std::move(outcome),
        {.category = std::nullopt, .escalation = std::nullopt, .took = now - attempt.started_at});
}

void Core::lend(HeldTask& held, const RunningAttempt& attempt, const HandedOver& handed,
                TimePoint now) {
  store::Outcome outcome{
      .transition = task::plan_lending(
          *held.task, {.worker = handed.to, .lease_for = handed.lease_for}, store_time_.at(now)),
      .attempt = std::nullopt};
  if (!outcome.transition.first_started_at) {
    outcome.transition.first_started_at = store_time_.at(attempt.started_at);
  }
  outcome.notes = notes_.take_of(attempt.id);
  // It is not the task's end yet.
  held.follow_ups.clear();
  write(held, std::move(outcome), {});
}

void Core::decide(HeldTask& held, const policy::Decision& decision, const RunningAttempt* attempt,
                  TimePoint now) {
  const bool may_stick = settings_.sticky.enable && !stopping_ && life_.may_act(now) &&
                         !held.lane->paused() && has_hold_room();
  policy::Verdict verdict = held.lane->rules().strategies.carry_out(
      {.task = *held.task,
       .decision = decision,
       .backoff = held.lane->backoff_of(*held.task),
       .now = store_time_.at(now),
       .sticky_up_to = may_stick ? settings_.sticky.up_to : Duration::zero(),
       .rng = rng_});
  store::Outcome outcome{.transition = std::move(verdict.transition), .attempt = std::nullopt};
  // Nothing was tried: what really went wrong before is still what a person wants to know.
  if (attempt == nullptr && held.task->last_error && !verdict.escalation) {
    outcome.transition.error = held.task->last_error;
  }
  News news{.category = decision.category, .escalation = verdict.escalation, .took = std::nullopt};
  if (attempt != nullptr) {
    count_attempt(outcome.transition, held, *attempt);
    outcome.attempt = attempt_row(
        outcome.transition, task::to_string(task::Owner(life_.incarnation())),
        {.started_at = store_time_.at(attempt->started_at), .ended_at = store_time_.at(now)});
    outcome.notes = notes_.take_of(attempt->id);
    news.took = now - attempt->started_at;
  }
  write(held, std::move(outcome), news);
}

void Core::end_by_deadline(HeldTask& held, TimePoint now) {
  task::Transition end = task::plan(*held.task, task::Move::kGiveUp, store_time_.at(now));
  end.error = task::Reason{
      "DEADLINE", "its deadline passed before it could start" +
                      (held.task->last_error ? "; last error: " + held.task->last_error->message
                                             : std::string())};
  write(held, {.transition = std::move(end), .attempt = std::nullopt},
        {.category = policy::Category::kUnknown,
         .escalation = policy::Escalation::kDeadLetter,
         .took = std::nullopt});
}

void Core::release(HeldTask& held, TimePoint due_at, TimePoint now) {
  task::Transition back = task::plan(*held.task, task::Move::kRelease, store_time_.at(now));
  back.due_at = due_at;
  write(held, {.transition = std::move(back), .attempt = std::nullopt}, {});
}

void Core::write(HeldTask& held, store::Outcome outcome, News news) {
  if (!held.follow_ups.empty() && hold_back(held, outcome, news)) return;
  set_stage(held, Stage::kWriting);
  news_[held.task->id] = news;
  outcomes_.add(std::move(outcome));
}

void Core::send_outcomes(TimePoint now, Commands& out) {
  while (std::optional<std::vector<store::Outcome>> batch = outcomes_.take(now)) {
    out.emplace_back(
        Apply{.call = CallId(++calls_), .batch = *std::move(batch), .within = call_timeout(now)});
  }
}

void Core::handle(ApplyEnded event, TimePoint now, Commands& out) {
  if (!event.answer) {
    const Error error = event.answer.error();
    out.emplace_back(Happening(NodeHappened{NodeEvent::kStoreFailed, "apply: " + error.message}));
    for (const store::Outcome& lost : outcomes_.refused(std::move(event.batch), error, now)) {
      out.emplace_back(Happening(NodeHappened{
          NodeEvent::kWriteGivenUp, task::to_string(lost.transition.task) + ": " + error.message}));
      reconciled_.erase(lost.transition.task);
      if (HeldTask* held = find_held(lost.transition.task)) drop(*held);
      // Its row says that this node has it: the comparison releases it.
      next_reconcile_ = std::min(next_reconcile_, now + settings_.lease.ttl);
    }
    return;
  }
  outcomes_.taken();
  for (std::size_t i = 0; i < event.batch.size(); ++i) {
    applied(event.batch[i], (*event.answer)[i], now, out);
  }
}

void Core::applied(const store::Outcome& outcome, const store::Applied& answer, TimePoint now,
                   Commands& out) {
  const task::Transition& change = outcome.transition;
  reconciled_.erase(change.task);
  HeldTask* held = find_held(change.task);
  const bool is_this =
      held != nullptr && held->stage == Stage::kWriting && held->task->ticket == change.ticket;
  if (answer.verdict == task::WriteVerdict::kRefused) {
    out.emplace_back(Happening(NodeHappened{NodeEvent::kRefused, task::to_string(change.task)}));
    if (is_this) drop(*held);
    return;
  }
  if (!is_this) return;
  const task::State state = answer.state.value_or(change.to);
  // Reported on before it was lent: whoever took the report has told of it.
  if (change.lending && state != task::State::kRunning) {
    drop(*held);
    return;
  }
  const News news = news_[change.task];
  out.emplace_back(
      Happening(Moved{.task = change.task,
                      .kind = change.account.kind,
                      .tenant = change.account.tenant,
                      .move = change.move,
                      .to = state,
                      .retries = change.retries,
                      .max_retries = held->task->spec.max_retries,
                      .fence = task::fence_after(change),
                      .category = news.category,
                      .escalation = state == change.to ? news.escalation : std::nullopt,
                      .error = change.lending ? std::nullopt : change.error,
                      .took = news.took,
                      .was = held->task}));
  if (stopping_ && change.move == task::Move::kRelease) ++stopping_->totals.released;
  if (stopping_ && news.took) ++stopping_->totals.finished;
  if (state == task::State::kRunning && change.move == task::Move::kRetryHere) {
    held_bytes_ -= bytes_of(*held->task);
    held->task = std::make_shared<const task::Task>(task::apply(task::Task(*held->task), change));
    held_bytes_ += bytes_of(*held->task);
    wait_in_wheel(*held, now);
    return;
  }
  if (state == task::State::kPending) {
    scanner_.expect(store_time_.local(change.due_at));
    if (change.due_at <= store_time_.at(now)) hint_others_ = true;
  }
  drop(*held);
}

void Core::wait_in_wheel(HeldTask& held, TimePoint now) {
  set_stage(held, Stage::kWaiting);
  if (stopping_) {
    release(held, store_time_.at(now), now);
    return;
  }
  const TimePoint due = held.task->due_at;
  if (held.lane->paused() || !wheel_.schedule(held, store_time_.local(due))) {
    release(held, due, now);
  }
}

}  // namespace recourse::engine

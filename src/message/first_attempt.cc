#include "message/first_attempt.h"

#include <memory>
#include <utility>

#include "base/text.h"
#include "engine/core/attempt_row.h"
#include "store/limits.h"
#include "task/transition.h"

namespace recourse::message {
namespace {

// As the store will have it, the moment it is born.
task::Task born(FirstAttempt& attempt) {
  task::Task task;
  task.id = attempt.id;
  task.spec = std::move(attempt.spec);
  task.created_at = attempt.started_at;
  task.due_at = attempt.started_at;
  task.retries = attempt.retries;
  return task::apply(std::move(task), task::Claim{.owner = attempt.claim.owner,
                                                  .lease = attempt.claim.lease,
                                                  .lease_end = std::nullopt});
}

store::Submission submission_of(task::Task task, const store::BirthClaim& claim) {
  return {.id = task.id, .spec = std::move(task.spec), .delay = Duration::zero(), .claim = claim};
}

store::Note note_of(const task::Transition& change, const std::string& text) {
  return {.task = change.task,
          .fence = change.ticket.fence,
          .number = 1,
          .attempt = change.attempts,
          .at = change.at,
          .progress = std::nullopt,
          .text = clean_text(text, store::kNoteCharactersMax)};
}

}  // namespace

Tried tried(FirstAttempt attempt, const policy::Decision& decision, const engine::KindRules& rules,
            Rng& rng) {
  task::Task task = born(attempt);
  // Never sticky: no node holds it.
  policy::Verdict verdict =
      rules.strategies.carry_out({.task = task,
                                  .decision = decision,
                                  .backoff = engine::backoff_of(rules, task.spec.backoff),
                                  .now = attempt.ended_at,
                                  .sticky_up_to = Duration::zero(),
                                  .rng = rng});
  store::Outcome outcome{.transition = std::move(verdict.transition), .attempt = std::nullopt};
  outcome.transition.attempts = 1;
  outcome.transition.first_started_at = attempt.started_at;
  outcome.attempt =
      engine::attempt_row(outcome.transition, task::to_string(task::Owner(attempt.claim.owner)),
                          {.started_at = attempt.started_at, .ended_at = attempt.ended_at});
  if (!attempt.note.empty()) {
    outcome.notes.push_back(note_of(outcome.transition, attempt.note));
  }
  return {.task = submission_of(std::move(task), attempt.claim),
          .outcome = std::move(outcome),
          .category = decision.category,
          .escalation = verdict.escalation};
}

Tried tried(FirstAttempt attempt, const policy::Failure& failure, const engine::KindRules& rules,
            Rng& rng) {
  return tried(std::move(attempt), rules.router.decide(failure), rules, rng);
}

Tried untried(FirstAttempt attempt) {
  task::Task task = born(attempt);
  store::Outcome outcome{.transition = task::plan(task, task::Move::kRelease, attempt.ended_at),
                         .attempt = std::nullopt};
  return {.task = submission_of(std::move(task), attempt.claim), .outcome = std::move(outcome)};
}

engine::Moved moved_of(const store::Submission& task, const store::Outcome& outcome,
                       policy::Category category, std::optional<policy::Escalation> escalation) {
  const task::Transition& change = outcome.transition;
  const task::TaskSpec& spec = task.spec;
  auto was = std::make_shared<task::Task>();
  was->id = task.id;
  was->spec = spec;
  return {.task = change.task,
          .kind = spec.kind,
          .tenant = spec.tenant,
          .move = change.move,
          .to = change.to,
          .retries = change.retries,
          .max_retries = spec.max_retries,
          .fence = change.ticket.fence,
          .category = category,
          .escalation = escalation,
          .error = change.error,
          // Its consumer knows.
          .took = Duration::zero(),
          .was = std::move(was)};
}

store::Dealt dealt(store::MessageKey key, Duration keep_for, Tried tried) {
  return {.key = std::move(key),
          .keep_for = keep_for,
          .task = std::move(tried.task),
          .tried = std::move(tried.outcome)};
}

}  // namespace recourse::message

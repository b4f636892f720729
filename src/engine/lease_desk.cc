#include "engine/lease_desk.h"

#include <algorithm>
#include <map>
#include <memory>
#include <utility>

#include "engine/core/attempt_row.h"
#include "store/limits.h"

namespace recourse::engine {
namespace {

// For kinds that this node does not know: another one's configuration has them.
const KindRules& product_rules() {
  static const KindRules rules;
  return rules;
}

policy::Decision decision_of(const AttemptResult& result, const KindRules& rules) {
  if (const auto* failed = std::get_if<Failed>(&result))
    return rules.router.decide(failed->failure);
  return std::get<Decided>(result).decision;
}

// The node that called a service writes under the same ticket: what it wrote, such as a time-out,
// is not what the service now says it did.
bool agrees(const AttemptResult& told, task::State state) {
  return !std::holds_alternative<Succeeded>(told) || state == task::State::kSucceeded;
}

Moved to_be_moved(const task::Task& task, Duration took) {
  return {.task = task.id,
          .kind = task.spec.kind,
          .tenant = task.spec.tenant,
          .move = task::Move::kSucceed,
          .to = task.state,
          .retries = task.retries,
          .max_retries = task.spec.max_retries,
          .fence = task.ticket.fence,
          .category = std::nullopt,
          .escalation = std::nullopt,
          .error = std::nullopt,
          .took = took,
          .was = std::make_shared<const task::Task>(task)};
}

}  // namespace

Duration LeaseDesk::lease_of(const task::Kind& kind, std::optional<Duration> asked) const {
  const KindRules* known = kinds_.find(kind);
  const LeaseTimes times = known != nullptr ? known->settings.lease : LeaseTimes();
  return std::min(asked.value_or(times.usual), times.longest);
}

Result<std::vector<task::Kind>> LeaseDesk::unpaused(const std::vector<task::Kind>& kinds,
                                                    Duration within) {
  const Result<store::Pauses> pauses = opened_.reader().pauses(within);
  if (!pauses) return fail(pauses.error());
  std::vector<task::Kind> open;
  std::ranges::copy_if(kinds, std::back_inserter(open), [&](const task::Kind& kind) {
    return std::ranges::count(pauses->kinds, kind) == 0;
  });
  return open;
}

Result<std::vector<task::Task>> LeaseDesk::lease(const LeaseWish& wish, Duration within) {
  const auto kinds = unpaused(wish.kinds, within);
  if (!kinds) return fail(kinds.error());
  if (kinds->empty()) return std::vector<task::Task>();
  store::ClaimRequest request{.owner = wish.worker,
                              .lease = wish.lease,
                              .lease_for = lease_of(kinds->front(), wish.lease_for),
                              .quotas = {},
                              .limit = wish.limit,
                              .shards = {}};
  for (const task::Kind& kind : *kinds) {
    const KindRules* rules = kinds_.find(kind);
    request.lease_for = std::min(*request.lease_for, lease_of(kind, wish.lease_for));
    request.quotas.push_back({.kind = kind,
                              .limit = wish.limit,
                              .tenant_max = rules != nullptr ? rules->settings.tenant_max : 0});
  }
  auto claimed = opened_.store().claim(request, within);
  if (!claimed) return fail(claimed.error());
  if (Result<> ended = end_overdue(claimed->tasks, claimed->now, within); !ended) {
    return fail(ended.error());
  }
  if (Result<> recorded = record_starts(claimed->tasks, within); !recorded) {
    return fail(recorded.error());
  }
  return std::move(claimed->tasks);
}

Result<> LeaseDesk::record_starts(std::vector<task::Task>& leased, Duration within) {
  std::vector<store::Held> asked;
  for (const task::Task& task : leased) {
    if (task.start == task::StartMark::kAsked) asked.push_back({task.id, task.ticket});
  }
  if (asked.empty()) return {};
  const auto recorded = opened_.store().record_starts(asked, within);
  if (!recorded) return fail(recorded.error());
  for (std::size_t i = 0; i < asked.size(); ++i) {
    if ((*recorded)[i]) continue;
    std::erase_if(leased, [&](const task::Task& task) { return task.id == asked[i].task; });
  }
  return {};
}

Result<> LeaseDesk::end_overdue(std::vector<task::Task>& leased, TimePoint now, Duration within) {
  const auto is_overdue = [&](const task::Task& task) {
    return task.spec.deadline && now > *task.spec.deadline;
  };
  std::vector<store::Outcome> ends;
  for (const task::Task& task : leased) {
    if (!is_overdue(task)) continue;
    task::Transition end = task::plan(task, task::Move::kGiveUp, now);
    end.error = task::Reason{"DEADLINE", "its deadline passed before a worker took it"};
    ends.push_back({.transition = std::move(end), .attempt = std::nullopt});
  }
  if (ends.empty()) return {};
  std::erase_if(leased, is_overdue);
  const auto applied = opened_.store().apply(ends, within);
  return applied ? Result<>{} : fail(applied.error());
}

Result<std::vector<std::optional<Renewed>>> LeaseDesk::renew(const std::vector<store::Held>& held,
                                                             std::optional<Duration> lease_for,
                                                             TimePoint store_now, Duration within) {
  // One call for each length there is: nearly always one.
  std::map<Duration, std::vector<std::size_t>> by_length;
  std::vector<std::optional<task::Move>> requested(held.size());
  for (std::size_t i = 0; i < held.size(); ++i) {
    const auto task = opened_.reader().find(held[i].task, within);
    if (task) {
      Duration length = lease_of(task->spec.kind, lease_for);
      // Who does not say how long does not mean less than it has.
      if (!lease_for && task->lease_end) length = std::max(length, *task->lease_end - store_now);
      by_length[std::min(length, store::kLeaseMax)].push_back(i);
      requested[i] = task->requested;
    } else if (task.error().code != ErrorCode::kNotFound) {
      return fail(task.error());
    }
  }
  std::vector<std::optional<Renewed>> renewed(held.size());
  for (const auto& [length, places] : by_length) {
    std::vector<store::Held> batch;
    for (const std::size_t place : places) batch.push_back(held[place]);
    const auto ends = opened_.store().renew(batch, length, within);
    if (!ends) return fail(ends.error());
    for (std::size_t i = 0; i < places.size(); ++i) {
      if (!(*ends)[i]) continue;
      renewed[places[i]] = {.lease_end = *(*ends)[i], .requested = requested[places[i]]};
    }
  }
  return renewed;
}

store::Outcome LeaseDesk::outcome_of(const task::Task& task, const Report& report, TimePoint now,
                                     Moved& moved) {
  if (std::holds_alternative<Succeeded>(report.result)) {
    store::Outcome outcome{.transition = task::plan(task, task::Move::kSucceed, now),
                           .attempt = std::nullopt};
    outcome.transition.error.reset();
    return outcome;
  }
  const KindRules* known = kinds_.find(task.spec.kind);
  const KindRules& rules = known != nullptr ? *known : product_rules();
  const policy::Decision decision = decision_of(report.result, rules);
  MutexLock lock(mutex_);
  // Never sticky: no node holds it.
  policy::Verdict verdict =
      rules.strategies.carry_out({.task = task,
                                  .decision = decision,
                                  .backoff = backoff_of(rules, task.spec.backoff),
                                  .now = now,
                                  .sticky_up_to = Duration::zero(),
                                  .rng = rng_});
  moved.category = decision.category;
  moved.escalation = verdict.escalation;
  return {.transition = std::move(verdict.transition), .attempt = std::nullopt};
}

Result<Reported> LeaseDesk::report(const Report& report, TimePoint store_now, Duration within) {
  auto task = opened_.reader().find(report.held.task, within);
  if (!task) return fail(task.error());
  const task::WriteVerdict judged = task::judge_write(task->ticket, report.held.ticket);
  if (judged == task::WriteVerdict::kAlreadyApplied && agrees(report.result, task->state)) {
    return Reported{.verdict = judged, .state = task->state, .escalation = std::nullopt};
  }
  if (judged != task::WriteVerdict::kApply || task->state != task::State::kRunning) {
    return Reported{
        .verdict = task::WriteVerdict::kRefused, .state = std::nullopt, .escalation = std::nullopt};
  }
  Moved moved = to_be_moved(*task, report.took);
  store::Outcome outcome = outcome_of(*task, report, store_now, moved);
  outcome.transition.attempts = task->attempts + 1;
  if (!outcome.transition.first_started_at) {
    outcome.transition.first_started_at = store_now - report.took;
  }
  if (!std::holds_alternative<Succeeded>(report.result)) {
    outcome.attempt =
        attempt_row(outcome.transition, task->owner ? task::to_string(*task->owner) : std::string(),
                    {.started_at = store_now - report.took, .ended_at = store_now});
  }
  moved.move = outcome.transition.move;
  moved.retries = outcome.transition.retries;
  moved.error = outcome.transition.error;
  const auto applied = opened_.store().apply(std::vector{std::move(outcome)}, within);
  if (!applied) return fail(applied.error());
  if (applied->front().state && !agrees(report.result, *applied->front().state)) {
    return Reported{
        .verdict = task::WriteVerdict::kRefused, .state = std::nullopt, .escalation = std::nullopt};
  }
  Reported reported{.verdict = applied->front().verdict,
                    .state = applied->front().state,
                    .escalation = moved.escalation};
  if (reported.verdict == task::WriteVerdict::kApply && reported.state) {
    moved.to = *reported.state;
    reported.moved = std::move(moved);
  }
  return reported;
}

}  // namespace recourse::engine

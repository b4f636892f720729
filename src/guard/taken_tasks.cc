#include "guard/taken_tasks.h"

#include <chrono>

#include "task/transition.h"

namespace recourse::guard {
namespace {

// One that is due this soon comes by itself.
constexpr Duration kSoon = std::chrono::seconds(2);
constexpr const char* kDue = "its row is due";

bool has_killed(const task::Task& task) {
  return task.state == task::State::kDead && task.last_error &&
         task.last_error->code == task::kOwnersDied;
}

Result<> order(const TakenParts& parts, const std::vector<task::TaskId>& tasks, task::Move move,
               const char* reason, Duration within) {
  if (tasks.empty()) return {};
  const auto done = parts.opened.store().control(
      tasks, {.move = move, .payload = std::nullopt, .deadline = std::nullopt, .reason = reason},
      "guard " + parts.guard, within);
  if (!done) return fail(done.error());
  parts.log.info("guard_tasks_woken", {{"guard", parts.guard},
                                       {"how", std::string(to_string(move))},
                                       {"tasks", std::to_string(tasks.size())}});
  parts.node.hint_work();
  parts.node.hint_requests();
  parts.node.hint_others(store::Hint::kRequest);
  return {};
}

}  // namespace

Result<> resolve(const TakenParts& parts, const std::vector<task::TaskId>& tasks, Duration within) {
  return order(parts, tasks, task::Move::kResolve, "its row is with a person", within);
}

Result<> reopen(const TakenParts& parts, const std::vector<task::TaskId>& tasks, Duration within) {
  return order(parts, tasks, task::Move::kReopen, kDue, within);
}

Result<std::vector<Deadly>> wake_taken(const TakenParts& parts, const std::vector<TakenRow>& taken,
                                       Duration within) {
  std::vector<task::TaskId> dead;
  std::vector<task::TaskId> late;
  std::vector<Deadly> deadly;
  const TimePoint soon = parts.node.store_now() + kSoon;
  for (const TakenRow& one : taken) {
    const auto task = parts.opened.reader().find(one.task, within);
    // Gone by now: the next scan submits anew.
    if (!task && task.error().code == ErrorCode::kNotFound) continue;
    if (!task) return fail(task.error());
    if (has_killed(*task)) {
      deadly.push_back({.taken = one,
                        .died_at = task->ended_at.value_or(task->created_at),
                        .error = task->last_error->message});
    } else if (task::needs_person(task->state)) {
      dead.push_back(one.task);
    }
    const bool waits = task->state == task::State::kPending || task->state == task::State::kRunning;
    if (waits && task->due_at > soon && !task->requested) late.push_back(one.task);
  }
  if (Result<> done = reopen(parts, dead, within); !done) return fail(done.error());
  const Result<> woken = order(parts, late, task::Move::kRetryNow, kDue, within);
  if (!woken) return fail(woken.error());
  return deadly;
}

}  // namespace recourse::guard

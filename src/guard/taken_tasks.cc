#include "guard/taken_tasks.h"

#include <chrono>

namespace recourse::guard {
namespace {

// One that is due this soon comes by itself.
constexpr Duration kSoon = std::chrono::seconds(2);

Result<> order(const TakenParts& parts, const std::vector<task::TaskId>& tasks, task::Move move,
               Duration within) {
  if (tasks.empty()) return {};
  const auto done = parts.opened.store().control(
      tasks,
      {.move = move, .payload = std::nullopt, .deadline = std::nullopt, .reason = "its row is due"},
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

Result<> wake_taken(const TakenParts& parts, const std::vector<task::TaskId>& tasks,
                    Duration within) {
  std::vector<task::TaskId> dead;
  std::vector<task::TaskId> late;
  const TimePoint soon = parts.node.store_now() + kSoon;
  for (const task::TaskId id : tasks) {
    const auto task = parts.opened.reader().find(id, within);
    // Gone by now: the next scan submits anew.
    if (!task && task.error().code == ErrorCode::kNotFound) continue;
    if (!task) return fail(task.error());
    if (task::needs_person(task->state)) dead.push_back(id);
    const bool waits = task->state == task::State::kPending || task->state == task::State::kRunning;
    if (waits && task->due_at > soon && !task->requested) late.push_back(id);
  }
  if (Result<> done = order(parts, dead, task::Move::kReopen, within); !done) return done;
  return order(parts, late, task::Move::kRetryNow, within);
}

}  // namespace recourse::guard

#include "api/control.h"

#include <vector>

#include "api/lease_line.h"

namespace recourse::api {

std::optional<Action> parse_action(std::string_view name) {
  for (const Action action : kAllActions) {
    if (to_string(action) == name) return action;
  }
  return std::nullopt;
}

task::Move move_of(Action action, task::State state) {
  switch (action) {
    case Action::kRetry:
      return task::needs_person(state) ? task::Move::kReopen : task::Move::kRetryNow;
    case Action::kCancel: return task::Move::kCancel;
    case Action::kPause: return task::Move::kPause;
    case Action::kResume: return task::Move::kResume;
    case Action::kResolve: return task::Move::kResolve;
    case Action::kIgnore: return task::Move::kIgnore;
  }
  std::abort();
}

Result<task::Task> find_task(Desk& desk, const Call& call) {
  const auto id = task::parse_task_id("the task's id", call.parameters.front());
  if (!id) return fail(id.error());
  auto task = desk.opened.reader().find(*id, kPatience);
  if (task && !call.caller.may_see(task->spec.tenant)) {
    return fail(ErrorCode::kNotFound, task::to_string(*id) + " does not exist");
  }
  return task;
}

void tell_owners(Desk& desk) {
  desk.node.hint_requests();
  desk.node.hint_work();
  desk.node.hint_others(store::Hint::kRequest);
  desk.lease_line.nudge();
}

Result<task::Effect> control_one(Desk& desk, task::TaskId id, const task::Order& order,
                                 std::string_view by) {
  const auto answer = desk.opened.store().control(std::vector{id}, order, by, kPatience);
  if (!answer) return fail(answer.error());
  return answer->items.front().effect;
}

}  // namespace recourse::api

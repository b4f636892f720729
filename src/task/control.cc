#include "task/control.h"

#include <utility>

#include "base/field_checks.h"

namespace recourse::task {
namespace {

bool may_be_requested(Move move) {
  return move == Move::kPause || move == Move::kCancel || move == Move::kResolve ||
         move == Move::kIgnore || move == Move::kRetryNow;
}

Result<Controlled> request(Task task, const Order& order) {
  if (order.payload) {
    return fail(ErrorCode::kConflict,
                "the payload of a running task cannot be edited; pause it first");
  }
  if (!may_be_requested(*order.move)) return fail(try_move(task.state, *order.move).error());
  task.requested = order.move;
  return Controlled{.task = std::move(task), .effect = Effect::kRequested};
}

Result<Transition> plan_order(const Task& task, const Order& order, TimePoint now) {
  if (order.move == Move::kReopen) return plan_reopen(task, now, order.deadline);
  if (const Result<State> to = try_move(task.state, *order.move); !to) return fail(to.error());
  return plan(task, *order.move, now);
}

}  // namespace

Result<> validate(const Order& order) {
  return FieldChecks("order")
      .require(order.move || order.payload, "move", "must be given where no payload is")
      .require(!order.move || is_control(*order.move), "move",
               "must be pause, resume, cancel, resolve, ignore, retry_now or reopen")
      .require(!order.deadline || order.move == Move::kReopen, "deadline",
               "can only be given with reopen")
      .between("payload (bytes)", order.payload ? order.payload->size() : 0, std::size_t{0},
               kPayloadBytesMax)
      .between("reason (bytes)", order.reason.size(), std::size_t{0}, kReasonBytesMax)
      .result();
}

Result<Controlled> control(Task task, const Order& order, TimePoint now) {
  if (task.state == State::kRunning) return request(std::move(task), order);
  if (is_finished(task.state)) return fail(try_move(task.state, Move::kCancel).error());
  if (order.payload) task.spec.payload = *order.payload;
  if (!order.move) {
    task.ticket.fence = next(task.ticket.fence);
    return Controlled{.task = std::move(task), .effect = Effect::kDone};
  }
  Result<Transition> transition = plan_order(task, order, now);
  if (!transition) return fail(std::move(transition).error());
  return Controlled{.task = apply(std::move(task), *transition), .effect = Effect::kDone};
}

}  // namespace recourse::task

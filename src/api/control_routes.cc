// Steering single tasks.
#include <fmt/format.h>

#include <utility>

#include "api/body.h"
#include "api/control.h"
#include "api/json_slices.h"
#include "api/route.h"
#include "http/base64.h"

namespace recourse::api {
namespace {

using boost::json::object;

http::Response answer_of(Desk& desk, task::TaskId id, const Result<task::Effect>& effect) {
  if (!effect) return refuse(effect.error());
  tell_owners(desk);
  return json_response(object{{"id", task::to_string(id)}, {"effect", to_string(*effect)}});
}

http::Response order(Desk& desk, const Call& call, Action action) {
  const auto body = read_body(call.request);
  if (!body) return refuse(400, body.error().message);
  std::vector<FieldError> errors;
  Fields fields(*body, "", errors);
  task::Order order;
  order.reason = fields.text("reason").value_or("");
  if (action == Action::kRetry) order.deadline = fields.time("deadline");
  fields.refuse_others();
  if (!errors.empty()) return refuse(std::move(errors));
  const auto task = find_task(desk, call);
  if (!task) return refuse(task.error());
  order.move = move_of(action, task->state);
  if (order.move != task::Move::kReopen) order.deadline.reset();
  return answer_of(desk, task->id, control_one(desk, task->id, order, call.caller.name));
}

Answer order_to(Action action) {
  return [action](Desk& desk, const Call& call) { return order(desk, call, action); };
}

void read_new_payload(Fields& fields, std::string_view raw, std::size_t bytes_max,
                      task::Order& order) {
  if (fields.has("payload")) order.payload = std::string(member_of(raw, "payload").value_or(""));
  if (const auto text = fields.text("payload_base64")) {
    if (order.payload) fields.refuse("payload_base64", "cannot be given beside payload");
    order.payload = http::from_base64(*text);
    if (!order.payload) fields.refuse("payload_base64", "is not base 64 with its padding");
  }
  if (order.payload && order.payload->size() > bytes_max) {
    fields.refuse("payload", fmt::format("has {} bytes; at most {} are allowed",
                                         order.payload->size(), bytes_max));
  }
}

http::Response edit(Desk& desk, const Call& call) {
  const auto body = read_body(call.request);
  if (!body) return refuse(400, body.error().message);
  std::vector<FieldError> errors;
  Fields fields(*body, "", errors);
  task::Order order;
  read_new_payload(fields, call.request.body, desk.limits.payload_bytes, order);
  order.reason = fields.text("reason").value_or("");
  const bool retry = fields.boolean("retry").value_or(false);
  order.deadline = fields.time("deadline");
  fields.refuse_others();
  if (errors.empty() && !order.payload) {
    errors.push_back({"/payload", "is missing: give payload or payload_base64"});
  }
  if (!errors.empty()) return refuse(std::move(errors));
  const auto task = find_task(desk, call);
  if (!task) return refuse(task.error());
  if (retry) order.move = move_of(Action::kRetry, task->state);
  if (order.move != task::Move::kReopen) order.deadline.reset();
  return answer_of(desk, task->id, control_one(desk, task->id, order, call.caller.name));
}

}  // namespace

std::vector<Route> control_routes() {
  using enum http::Method;
  return {
      {kPatch, "/api/v1/tasks/{id}", Role::kOperator, Answer(edit)},
      {kPost, "/api/v1/tasks/{id}/retry", Role::kOperator, order_to(Action::kRetry)},
      {kPost, "/api/v1/tasks/{id}/cancel", Role::kOperator, order_to(Action::kCancel)},
      {kPost, "/api/v1/tasks/{id}/pause", Role::kOperator, order_to(Action::kPause)},
      {kPost, "/api/v1/tasks/{id}/resume", Role::kOperator, order_to(Action::kResume)},
      {kPost, "/api/v1/tasks/{id}/resolve", Role::kOperator, order_to(Action::kResolve)},
      {kPost, "/api/v1/tasks/{id}/ignore", Role::kOperator, order_to(Action::kIgnore)},
  };
}

}  // namespace recourse::api

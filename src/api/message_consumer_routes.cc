// For consumers whose broker has no adapter here: they ask whether a message was dealt with, report
// one that failed, and say that one is done (MSG-9).
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "api/body.h"
#include "api/control.h"
#include "api/figures.h"
#include "api/message_bodies.h"
#include "api/route.h"
#include "base/rng.h"
#include "message/first_attempt.h"

namespace recourse::api {
namespace {

using boost::json::array;
using boost::json::object;

// How a message stands that was marked.
struct Standing {
  std::optional<task::TaskId> id;
  // Empty where its record is gone.
  std::optional<message::Status> status;
};

object shape_of(const Standing& standing) {
  object shape{{"id", nullptr}, {"status", nullptr}};
  if (standing.id) shape["id"] = task::to_string(*standing.id);
  if (standing.status) shape["status"] = to_string(*standing.status);
  return shape;
}

Result<Standing> standing_of(Desk& desk, const store::Seen& seen) {
  if (!seen.task) return Standing{std::nullopt, message::Status::kProcessed};
  const auto task = desk.opened.reader().find(*seen.task, kPatience);
  if (task) return Standing{seen.task, message::status_of(task->state)};
  if (task.error().code != ErrorCode::kNotFound) return fail(task.error());
  return Standing{seen.task, std::nullopt};
}

http::Response check_messages(Desk& desk, const Call& call) {
  const auto body = read_body(call.request);
  if (!body) return refuse(400, body.error().message);
  std::vector<FieldError> errors;
  Fields fields(*body, "", errors);
  const array* messages = fields.array("messages", store::kBatchRowsMax);
  if (messages == nullptr || messages->empty()) {
    fields.refuse("messages", "must be a list of at least one message");
  }
  fields.refuse_others();
  std::vector<store::MessageKey> keys;
  for (std::size_t i = 0; messages != nullptr && i < messages->size(); ++i) {
    const std::string pointer = fmt::format("/messages/{}", i);
    const auto* one = (*messages)[i].if_object();
    if (one == nullptr) {
      errors.push_back({pointer, "must be an object"});
      continue;
    }
    Fields named(*one, pointer, errors);
    keys.push_back(key_of(read_message_name(named, desk, call)));
    named.refuse_others();
  }
  if (!errors.empty()) return refuse(std::move(errors));
  const auto seen = desk.opened.inbox().look_up(keys, kPatience);
  if (!seen) return refuse(seen.error());
  array items;
  for (const std::optional<store::Seen>& one : *seen) {
    object shape{{"seen", one.has_value()}};
    const auto standing = one ? standing_of(desk, *one) : Result<Standing>(Standing{});
    if (!standing) return refuse(standing.error());
    for (const auto& [name, value] : shape_of(*standing)) shape[name] = value;
    items.push_back(std::move(shape));
  }
  return json_response(object{{"items", std::move(items)}});
}

message::Handling handling_of(const Desk& desk, const ReportedFailure& failure) {
  message::Handling handling;
  handling.kind = failure.kind;
  handling.tenant = failure.name.tenant;
  handling.keep_done_for = desk.messages.keep_done_for;
  const auto card = std::ranges::find(desk.kinds, failure.kind.value, &KindCard::name);
  if (card != desk.kinds.end()) {
    handling.max_retries = card->max_retries;
    handling.timeout = card->timeout;
  }
  return handling;
}

// Its first attempt was the consumer's, just now.
message::Tried tried_by_consumer(Desk& desk, const ReportedFailure& failure, task::TaskSpec spec) {
  const engine::KindRules* rules = desk.node.kinds().find(failure.kind);
  const engine::KindRules product_rules;
  const TimePoint now = desk.node.store_now();
  const task::TaskId id(desk.ids.next());
  Rng rng(std::hash<std::string>()(task::to_string(id)));
  message::FirstAttempt attempt{
      .id = id,
      .spec = std::move(spec),
      .claim = {.owner = desk.node.status().node, .lease = task::LeaseId(desk.ids.next())},
      .started_at = now,
      .ended_at = now,
      .note = message::to_note(failure.detail)};
  return message::tried(std::move(attempt), decide(failure),
                        rules == nullptr ? product_rules : *rules, rng);
}

http::Response record_message(Desk& desk, const Call& call) {
  const auto body = read_body(call.request);
  if (!body) return refuse(400, body.error().message);
  std::vector<FieldError> errors;
  ReportedFailure failure = read_reported_failure(*body, desk, call, errors);
  if (!errors.empty()) return refuse(std::move(errors));
  const message::Handling handling = handling_of(desk, failure);
  auto spec = message::spec_of(failure.envelope, std::move(failure.body), handling);
  if (!spec) return refuse(spec.error());
  message::Tried tried = tried_by_consumer(desk, failure, *std::move(spec));
  const engine::Moved moved = message::moved_of(tried);
  const Duration until_due = tried.outcome.transition.due_at - desk.node.store_now();
  const std::vector<store::Dealt> batch{
      message::dealt(key_of(failure.name), handling.keep_done_for, std::move(tried))};
  const auto marked = desk.opened.inbox().mark(batch, kPatience);
  desk.figures.submitted(failure.kind.value, marked.has_value());
  if (!marked) return refuse(marked.error());
  const store::Marked& mark = marked->front();
  if (mark.is_new) {
    desk.happened(moved);
    if (moved.to == task::State::kPending) {
      desk.node.hint_work(std::max(until_due, Duration::zero()));
    }
  }
  const auto standing = standing_of(desk, mark.seen);
  if (!standing) return refuse(standing.error());
  object shape = shape_of(*standing);
  shape["created"] = mark.is_new;
  http::Response response = json_response(shape, mark.is_new ? 201 : 200);
  if (standing->id) {
    response.headers.set("Location", "/api/v1/messages/" + task::to_string(*standing->id));
  }
  return response;
}

// A record of it that is unfinished is finished with it.
Result<> resolve_record(Desk& desk, task::TaskId id, const std::string& by) {
  const auto task = desk.opened.reader().find(id, kPatience);
  if (!task && task.error().code == ErrorCode::kNotFound) return {};
  if (!task) return fail(task.error());
  if (task::is_finished(task->state)) return {};
  task::Order order;
  order.move = task::Move::kResolve;
  order.reason = "its consumer says that it is done";
  const auto effect = control_one(desk, id, order, by);
  if (!effect && effect.error().code != ErrorCode::kConflict) return fail(effect.error());
  tell_owners(desk);
  return {};
}

http::Response message_done(Desk& desk, const Call& call) {
  const auto body = read_body(call.request);
  if (!body) return refuse(400, body.error().message);
  std::vector<FieldError> errors;
  Fields fields(*body, "", errors);
  const MessageName name = read_message_name(fields, desk, call);
  fields.refuse_others();
  if (!errors.empty()) return refuse(std::move(errors));
  const std::vector<store::Dealt> batch{
      {.key = key_of(name), .keep_for = desk.messages.keep_done_for}};
  const auto marked = desk.opened.inbox().mark(batch, kPatience);
  if (!marked) return refuse(marked.error());
  const store::Marked& mark = marked->front();
  if (mark.seen.task) {
    if (const Result<> over = resolve_record(desk, *mark.seen.task, call.caller.name); !over) {
      return refuse(over.error());
    }
  }
  const auto standing = standing_of(desk, mark.seen);
  if (!standing) return refuse(standing.error());
  object shape = shape_of(*standing);
  shape["created"] = mark.is_new;
  return json_response(shape);
}

}  // namespace

std::vector<Route> message_consumer_routes() {
  using enum http::Method;
  return {
      {kPost, "/api/v1/messages/check", Role::kViewer, Answer(check_messages)},
      {kPost, "/api/v1/messages/record", Role::kOperator, Answer(record_message)},
      {kPost, "/api/v1/messages/done", Role::kOperator, Answer(message_done)},
  };
}

}  // namespace recourse::api

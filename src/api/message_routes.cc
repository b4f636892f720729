// The message door over HTTP: messages that failed are looked at and looked after.
#include <utility>

#include "api/body.h"
#include "api/bulk_start.h"
#include "api/control.h"
#include "api/message_bodies.h"
#include "api/route.h"
#include "api/shapes.h"
#include "api/task_filter.h"

namespace recourse::api {
namespace {

using boost::json::array;
using boost::json::object;

http::Response list_messages(Desk& desk, const Call& call) {
  std::vector<FieldError> errors;
  refuse_other_parameters(call.request,
                          {"status", "kind", "message_id", "business_id", "topic", "group",
                           "source", "tenant", "from", "before", "limit", "cursor"},
                          errors);
  const message::Query query = read_message_query(desk, call, errors);
  const std::size_t limit = read_limit(call.request, errors);
  const auto after = read_cursor(call.request, errors);
  if (!errors.empty()) return refuse(std::move(errors));
  const auto page = message::list(desk.opened.reader(), query, after, limit, kPatience);
  if (!page) return refuse(page.error());
  array items;
  for (const message::Record& record : page->records) {
    items.push_back(to_json(record, Body::kHidden));
  }
  object body{{"items", std::move(items)}, {"next_cursor", nullptr}};
  if (page->next) body["next_cursor"] = task::to_string(*page->next);
  return json_response(body);
}

// To those of another tenant it does not exist.
Result<message::Record> find_message(Desk& desk, const Call& call) {
  const auto task = find_task(desk, call);
  if (!task) return fail(task.error());
  return message::find(desk.opened.reader(), desk.messages.kinds, task->id, kPatience);
}

http::Response show_message(Desk& desk, const Call& call) {
  const auto record = find_message(desk, call);
  return record ? json_response(to_json(*record, Body::kShown)) : refuse(record.error());
}

http::Response message_history(Desk& desk, const Call& call) {
  const auto record = find_message(desk, call);
  if (!record) return refuse(record.error());
  store::Reader& reader = desk.opened.reader();
  const auto task = reader.find(record->id, kPatience);
  if (!task) return refuse(task.error());
  const auto attempts = reader.attempts(record->id, kPatience);
  if (!attempts) return refuse(attempts.error());
  const auto notes = reader.notes(record->id, kPatience);
  if (!notes) return refuse(notes.error());
  array items;
  for (const message::HistoryEntry& entry : message::history_of(*task, *attempts, *notes)) {
    items.push_back(to_json(entry));
  }
  return json_response(object{{"items", std::move(items)}});
}

using MoveOf = Result<task::Move> (*)(const message::Record&);

Answer steering(MoveOf move_of) {
  return [move_of](Desk& desk, const Call& call) {
    const auto body = read_body(call.request);
    if (!body) return refuse(400, body.error().message);
    std::vector<FieldError> errors;
    Fields fields(*body, "", errors);
    task::Order order;
    order.reason = fields.text("reason").value_or("");
    fields.refuse_others();
    if (!errors.empty()) return refuse(std::move(errors));
    const auto record = find_message(desk, call);
    if (!record) return refuse(record.error());
    const auto move = move_of(*record);
    if (!move) return refuse(move.error());
    order.move = *move;
    const auto effect = control_one(desk, record->id, order, call.caller.name);
    if (!effect) return refuse(effect.error());
    tell_owners(desk);
    return json_response(
        object{{"id", task::to_string(record->id)}, {"effect", to_string(*effect)}});
  };
}

Answer steering_many(Action action) {
  return [action](Desk& desk, const Call& call) {
    const auto body = read_body(call.request);
    if (!body) return refuse(400, body.error().message);
    std::vector<FieldError> errors;
    MessagesOrder asked = read_messages_order(*body, action, desk, call, errors);
    if (!errors.empty()) return refuse(std::move(errors));
    const BulkPlan plan = plan_of(asked.job, errors);
    if (!errors.empty()) return refuse(std::move(errors));
    return asked.dry_run ? count_bulk(desk, plan) : start_bulk(desk, std::move(asked.job));
  };
}

http::Response clean_messages(Desk& desk, const Call& call) {
  if (call.caller.tenant) {
    return refuse(403, "a kind belongs to all tenants; this needs a token that is not one's alone");
  }
  const auto body = read_body(call.request);
  if (!body) return refuse(400, body.error().message);
  std::vector<FieldError> errors;
  Fields fields(*body, "", errors);
  const Duration processed =
      fields.duration("processed_older_than", kLongestWait).value_or(desk.messages.keep_processed);
  const Duration ignored =
      fields.duration("ignored_older_than", kLongestWait).value_or(desk.messages.keep_ignored);
  fields.refuse_others();
  if (!errors.empty()) return refuse(std::move(errors));
  const TimePoint now = desk.node.store_now();
  const auto cleaned = message::clean(desk.opened, desk.messages.kinds, now - processed,
                                      now - ignored, call.caller.name, desk.log, kPatience);
  if (!cleaned) return refuse(cleaned.error());
  return json_response(object{{"deleted", *cleaned}});
}

http::Response summarise_messages(Desk& desk, const Call& call) {
  const auto summary =
      message::summarise(desk.opened.reader(), desk.messages.kinds, call.caller.tenant, kPatience);
  if (!summary) return refuse(summary.error());
  object shape = to_json(*summary);
  // They are kept for all tenants together.
  if (call.caller.tenant) shape["counts"] = shape["cancelled"] = shape["success_rate"] = nullptr;
  return json_response(shape);
}

// Of this server; each consumes by itself.
http::Response list_sources(Desk& desk, const Call& call) {
  if (call.caller.tenant) {
    return refuse(403, "sources belong to all tenants; this needs a token that is not one's alone");
  }
  array items;
  if (desk.messages.sources) {
    for (const SourceCard& source : desk.messages.sources()) items.push_back(to_json(source));
  }
  return json_response(object{{"items", std::move(items)}});
}

}  // namespace

std::vector<Route> message_routes() {
  using enum http::Method;
  return {
      {kGet, "/api/v1/messages", Role::kViewer, Answer(list_messages)},
      {kGet, "/api/v1/messages/summary", Role::kViewer, Answer(summarise_messages)},
      {kGet, "/api/v1/messages/sources", Role::kViewer, Answer(list_sources)},
      {kPost, "/api/v1/messages/retry", Role::kOperator, steering_many(Action::kRetry)},
      {kPost, "/api/v1/messages/processed", Role::kOperator, steering_many(Action::kResolve)},
      {kPost, "/api/v1/messages/ignore", Role::kOperator, steering_many(Action::kIgnore)},
      {kPost, "/api/v1/messages/clean", Role::kOperator, Answer(clean_messages)},
      {kGet, "/api/v1/messages/{id}", Role::kViewer, Answer(show_message)},
      {kGet, "/api/v1/messages/{id}/history", Role::kViewer, Answer(message_history)},
      {kPost, "/api/v1/messages/{id}/retry", Role::kOperator, steering(message::move_to_retry)},
      {kPost, "/api/v1/messages/{id}/processed", Role::kOperator,
       steering(message::move_to_processed)},
      {kPost, "/api/v1/messages/{id}/ignore", Role::kOperator, steering(message::move_to_ignored)},
  };
}

}  // namespace recourse::api

// The degrade door over HTTP: failures that somebody caught are recorded, and looked after.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "api/body.h"
#include "api/bulk_start.h"
#include "api/control.h"
#include "api/degrade_bodies.h"
#include "api/figures.h"
#include "api/route.h"
#include "api/shapes.h"
#include "api/task_filter.h"
#include "degrade/log_lines.h"

namespace recourse::api {
namespace {

using boost::json::array;
using boost::json::object;

// As the kind's configuration has it.
degrade::RetryPreset preset_of(const Desk& desk, const task::Kind& kind) {
  degrade::RetryPreset preset;
  preset.first_after = desk.degrade.first_retry_after;
  const auto card = std::ranges::find(desk.kinds, kind.value, &KindCard::name);
  if (card != desk.kinds.end()) {
    preset.max_retries = card->max_retries;
    preset.timeout = card->timeout;
  }
  return preset;
}

http::Response record(Desk& desk, const Call& call) {
  const auto body = read_body(call.request);
  if (!body) return refuse(400, body.error().message);
  std::vector<FieldError> errors;
  const RecordRequest asked = read_failure(*body, desk, call, errors);
  if (call.request.headers.find("Idempotency-Key")) {
    errors.push_back({"",
                      "a failure takes no Idempotency-Key, which the store would have to keep: "
                      "give it an id, and repeat it under that"});
  }
  if (!errors.empty()) return refuse(std::move(errors));
  const task::TaskId id = asked.id.value_or(task::TaskId(desk.ids.next()));
  const auto done = desk.degrade.recorder->record(
      degrade::submission_of(id, asked.failure, preset_of(desk, asked.failure.kind)),
      asked.id ? store::Novelty::kRepeat : store::Novelty::kFresh);
  desk.figures.submitted(asked.failure.kind.value, done.has_value());
  if (!done) return refuse(done.error());
  object shape{{"id", task::to_string(id)},
               {"recorded_in", done->where == degrade::Where::kStore ? "store" : "spool"},
               {"created", !done->is_repeated}};
  if (done->is_repeated) {
    shape["reason"] = "repeated";
  } else {
    degrade::log_failure(desk.log, id, asked.failure, true, done->where);
  }
  http::Response response = json_response(shape, done->is_repeated ? 200 : 201);
  response.headers.set("Location", "/api/v1/degrade/failures/" + task::to_string(id));
  return response;
}

http::Response list_failures(Desk& desk, const Call& call) {
  std::vector<FieldError> errors;
  refuse_other_parameters(call.request,
                          {"status", "kind", "member", "related_id", "type", "tenant", "from",
                           "before", "limit", "cursor"},
                          errors);
  const degrade::Query query = read_failure_query(desk, call, errors);
  const std::size_t limit = read_limit(call.request, errors);
  const auto after = read_cursor(call.request, errors);
  if (!errors.empty()) return refuse(std::move(errors));
  const auto page = degrade::list(desk.opened.reader(), query, after, limit, kPatience);
  if (!page) return refuse(page.error());
  array items;
  for (const degrade::Record& record : page->records) items.push_back(to_json(record));
  object body{{"items", std::move(items)}, {"next_cursor", nullptr}};
  if (page->next) body["next_cursor"] = task::to_string(*page->next);
  return json_response(body);
}

// To those of another tenant it does not exist.
Result<degrade::Record> find_record(Desk& desk, const Call& call) {
  const auto task = find_task(desk, call);
  if (!task) return fail(task.error());
  return degrade::find(desk.opened.reader(), desk.degrade.kinds, task->id, kPatience);
}

http::Response show(Desk& desk, const Call& call) {
  const auto record = find_record(desk, call);
  return record ? json_response(to_json(*record)) : refuse(record.error());
}

http::Response retry(Desk& desk, const Call& call) {
  const auto body = read_body(call.request);
  if (!body) return refuse(400, body.error().message);
  std::vector<FieldError> errors;
  Fields fields(*body, "", errors);
  task::Order order;
  order.reason = fields.text("reason").value_or("");
  fields.refuse_others();
  if (!errors.empty()) return refuse(std::move(errors));
  const auto record = find_record(desk, call);
  if (!record) return refuse(record.error());
  const auto move = degrade::move_to_retry(*record);
  if (!move) return refuse(move.error());
  order.move = *move;
  const auto effect = control_one(desk, record->id, order, call.caller.name);
  if (!effect) return refuse(effect.error());
  tell_owners(desk);
  return json_response(object{{"id", task::to_string(record->id)}, {"effect", to_string(*effect)}});
}

http::Response retry_many(Desk& desk, const Call& call) {
  const auto body = read_body(call.request);
  if (!body) return refuse(400, body.error().message);
  std::vector<FieldError> errors;
  RetryMany asked = read_retry_many(*body, desk, call, errors);
  if (!errors.empty()) return refuse(std::move(errors));
  const BulkPlan plan = plan_of(asked.job, errors);
  if (!errors.empty()) return refuse(std::move(errors));
  return asked.dry_run ? count_bulk(desk, plan) : start_bulk(desk, std::move(asked.job));
}

http::Response clean(Desk& desk, const Call& call) {
  if (call.caller.tenant) {
    return refuse(403, "a kind belongs to all tenants; this needs a token that is not one's alone");
  }
  const auto body = read_body(call.request);
  if (!body) return refuse(400, body.error().message);
  std::vector<FieldError> errors;
  Fields fields(*body, "", errors);
  const Duration age =
      fields.duration("older_than", kLongestWait).value_or(desk.degrade.clean_after);
  fields.refuse_others();
  if (!errors.empty()) return refuse(std::move(errors));
  const auto cleaned = degrade::clean(desk.opened, desk.degrade.kinds, desk.node.store_now() - age,
                                      call.caller.name, desk.log, kPatience);
  if (!cleaned) return refuse(cleaned.error());
  return json_response(object{{"deleted", *cleaned}});
}

http::Response summary(Desk& desk, const Call& call) {
  const auto summary =
      degrade::summarise(desk.opened.reader(), desk.degrade.kinds, call.caller.tenant, kPatience);
  if (!summary) return refuse(summary.error());
  object shape = to_json(*summary);
  // They are kept for all tenants together.
  if (call.caller.tenant) shape["counts"] = nullptr;
  const degrade::Recorder* recorder = desk.degrade.recorder;
  const degrade::Spool* spool = recorder == nullptr ? nullptr : recorder->spool();
  shape["spooled_bytes"] = spool == nullptr ? 0 : spool->bytes();
  return json_response(shape);
}

}  // namespace

std::vector<Route> degrade_routes() {
  using enum http::Method;
  return {
      {kPost, "/api/v1/degrade/failures", Role::kOperator, Answer(record)},
      {kGet, "/api/v1/degrade/failures", Role::kViewer, Answer(list_failures)},
      {kGet, "/api/v1/degrade/failures/{id}", Role::kViewer, Answer(show)},
      {kPost, "/api/v1/degrade/failures/{id}/retry", Role::kOperator, Answer(retry)},
      {kPost, "/api/v1/degrade/retry", Role::kOperator, Answer(retry_many)},
      {kPost, "/api/v1/degrade/clean", Role::kOperator, Answer(clean)},
      {kGet, "/api/v1/degrade/summary", Role::kViewer, Answer(summary)},
  };
}

}  // namespace recourse::api

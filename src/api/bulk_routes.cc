// Steering many tasks: by ids at once, by filter as a job.
#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "api/body.h"
#include "api/bulk_jobs.h"
#include "api/bulk_start.h"
#include "api/control.h"
#include "api/route.h"
#include "store/limits.h"

namespace recourse::api {
namespace {

using boost::json::array;
using boost::json::object;

constexpr std::size_t kIdsMax = 1'000;
// A dry run counts up to here.
constexpr std::size_t kCountMax = 10'000;

object item_json(const std::string& id, const Result<task::Effect>& effect) {
  if (effect) return {{"id", id}, {"effect", to_string(*effect)}};
  return {
      {"id", id},
      {"error", {{"code", to_string(effect.error().code)}, {"detail", effect.error().message}}}};
}

Result<task::Task> find_task(Desk& desk, const Call& call, const std::string& id) {
  return api::find_task(desk, {.request = {}, .parameters = {id}, .caller = call.caller});
}

// Each by its own state, so that retry means the right thing for each.
http::Response by_ids(Desk& desk, const Call& call, const BulkJob& job,
                      const std::vector<std::string>& ids) {
  array items;
  std::size_t refused = 0;
  for (const std::string& id : ids) {
    const auto task = find_task(desk, call, id);
    Result<task::Effect> effect =
        task ? Result<task::Effect>(task::Effect::kDone) : Result<task::Effect>(fail(task.error()));
    if (task) {
      task::Order order;
      order.move = move_of(job.action, task->state);
      order.reason = job.reason;
      effect = control_one(desk, task->id, order, call.caller.name);
    }
    refused += effect ? 0 : 1;
    items.push_back(item_json(id, effect));
  }
  tell_owners(desk);
  return json_response(object{{"items", std::move(items)}, {"refused", refused}});
}

http::Response count(Desk& desk, const Call& call, const std::vector<std::string>& ids) {
  std::size_t found = 0;
  for (const std::string& id : ids) {
    const auto task = find_task(desk, call, id);
    if (!task && task.error().code != ErrorCode::kNotFound &&
        task.error().code != ErrorCode::kInvalid) {
      return refuse(task.error());
    }
    found += task ? 1 : 0;
  }
  return json_response(object{{"dry_run", true}, {"count", found}, {"more", false}});
}

}  // namespace

http::Response count_bulk(Desk& desk, const BulkPlan& plan) {
  // What is finished stays as it is, and is not looked at.
  store::Filter filter = plan.filter;
  if (filter.states.empty()) {
    std::ranges::copy_if(task::kAllStates, std::back_inserter(filter.states),
                         [](task::State state) { return !task::is_finished(state); });
  }
  std::size_t found = 0;
  std::optional<task::TaskId> after;
  do {
    const auto page = desk.opened.reader().list(filter, after, store::kPageRowsMax, kPatience);
    if (!page) return refuse(page.error());
    found += page->tasks.size();
    after = page->next;
  } while (after && found < kCountMax);
  return json_response(object{{"dry_run", true}, {"count", found}, {"more", after.has_value()}});
}

http::Response start_bulk(Desk& desk, BulkJob job) {
  const auto started = desk.bulk.start(std::move(job));
  if (!started) return refuse(started.error());
  http::Response response = json_response(to_json(*started), 202);
  response.headers.set("Location", "/api/v1/bulk/" + started->id);
  return response;
}

namespace {

http::Response start(Desk& desk, const Call& call) {
  const auto body = read_body(call.request);
  if (!body) return refuse(400, body.error().message);
  std::vector<FieldError> errors;
  Fields fields(*body, "", errors);
  BulkJob job;
  const std::string name = fields.required_text("action");
  const auto action = parse_action(name);
  if (!action && !name.empty()) {
    fields.refuse("action", "must be retry, cancel, pause, resume, resolve or ignore");
  }
  job.action = action.value_or(Action::kRetry);
  const auto ids = fields.texts("ids", kIdsMax);
  const object* filter = fields.object("filter");
  if (!ids == !filter) fields.refuse("filter", "must be given, or ids instead, and not both");
  job.reason = fields.text("reason").value_or("");
  if (job.reason.size() > task::kReasonBytesMax) {
    fields.refuse("reason", fmt::format("has up to {} bytes", task::kReasonBytesMax));
  }
  job.limit =
      static_cast<std::size_t>(fields.integer("limit", 1, kBulkTasksMax).value_or(kBulkTasksMax));
  const bool dry_run = fields.boolean("dry_run").value_or(false);
  fields.refuse_others();
  if (filter != nullptr) job.filter = *filter;
  job.by = call.caller.name;
  job.tenant = call.caller.tenant;
  const BulkPlan plan = plan_of(job, errors);
  if (!errors.empty()) return refuse(std::move(errors));
  if (ids) return dry_run ? count(desk, call, *ids) : by_ids(desk, call, job, *ids);
  return dry_run ? count_bulk(desk, plan) : start_bulk(desk, std::move(job));
}

bool may_see(const Identity& caller, const BulkJob& job) {
  return !caller.tenant || job.tenant == caller.tenant;
}

http::Response show_job(Desk& desk, const Call& call) {
  const auto job = desk.bulk.find(call.parameters.front());
  if (!job) return refuse(job.error());
  if (!*job || !may_see(call.caller, **job)) return refuse(404, "there is no such bulk job");
  return json_response(to_json(**job));
}

http::Response list_jobs(Desk& desk, const Call& call) {
  const auto jobs = desk.bulk.list();
  if (!jobs) return refuse(jobs.error());
  array items;
  for (const BulkJob& job : *jobs) {
    if (may_see(call.caller, job)) items.push_back(to_json(job));
  }
  return json_response(object{{"items", std::move(items)}});
}

http::Response cancel(Desk& desk, const Call& call) {
  const auto job = desk.bulk.find(call.parameters.front());
  if (!job) return refuse(job.error());
  if (!*job || !may_see(call.caller, **job)) return refuse(404, "there is no such bulk job");
  const auto cancelled = desk.bulk.cancel(call.parameters.front());
  if (!cancelled) return refuse(cancelled.error());
  return json_response(to_json(*cancelled));
}

}  // namespace

std::vector<Route> bulk_routes() {
  using enum http::Method;
  return {
      {kPost, "/api/v1/bulk", Role::kOperator, Answer(start)},
      {kGet, "/api/v1/bulk", Role::kViewer, Answer(list_jobs)},
      {kGet, "/api/v1/bulk/{id}", Role::kViewer, Answer(show_job)},
      {kPost, "/api/v1/bulk/{id}/cancel", Role::kOperator, Answer(cancel)},
  };
}

}  // namespace recourse::api

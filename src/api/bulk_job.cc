#include "api/bulk_job.h"

#include <algorithm>

#include "api/fields.h"
#include "api/shapes.h"
#include "api/task_filter.h"
#include "base/rfc3339.h"

namespace recourse::api {
namespace {

using boost::json::object;
using task::State;

// One order serves all of them: what waits is retried now, what ended badly begins anew.
void plan_retry(BulkPlan& plan, std::vector<FieldError>& errors) {
  std::vector<State>& states = plan.filter.states;
  if (states.empty()) states = {State::kDead, State::kFailed};
  const auto ended_badly = std::ranges::count_if(states, task::needs_person);
  plan.order.move = task::Move::kReopen;
  if (ended_badly == std::ssize(states)) return;
  plan.order.move = task::Move::kRetryNow;
  if (ended_badly == 0) return;
  errors.push_back({"/filter/state", "cannot mix dead and failed with others: make two jobs"});
}

}  // namespace

object to_json(const BulkJob& job) {
  object shape{{"id", job.id},
               {"action", to_string(job.action)},
               {"filter", job.filter},
               {"by", job.by},
               {"reason", job.reason},
               {"limit", job.limit},
               {"as_of", format_rfc3339(job.as_of)},
               {"state", job.state},
               {"done", job.done},
               {"requested", job.requested},
               {"refused", job.refused}};
  boost::json::array errors;
  for (const std::string& error : job.errors) errors.emplace_back(error);
  shape["errors"] = std::move(errors);
  return shape;
}

std::string to_value(const BulkJob& job) {
  object value = to_json(job);
  value["beat_at"] = format_rfc3339(job.beat_at);
  if (job.tenant) value["tenant"] = job.tenant->value;
  if (job.cursor) value["cursor"] = task::to_string(*job.cursor);
  return boost::json::serialize(value);
}

Result<BulkJob> job_of(std::string_view text) {
  try {
    const boost::json::value parsed = boost::json::parse(text);
    const object& value = parsed.as_object();
    const auto string = [&](std::string_view name) {
      return std::string(value.at(name).as_string());
    };
    const auto number = [&](std::string_view name) {
      return value.at(name).to_number<std::size_t>();
    };
    BulkJob job;
    job.id = string("id");
    job.action = parse_action(string("action")).value();
    job.filter = value.at("filter").as_object();
    job.by = string("by");
    job.reason = string("reason");
    job.limit = number("limit");
    job.as_of = parse_rfc3339("as_of", string("as_of")).value();
    job.beat_at = parse_rfc3339("beat_at", string("beat_at")).value();
    job.state = string("state");
    job.done = number("done");
    job.requested = number("requested");
    job.refused = number("refused");
    for (const auto& error : value.at("errors").as_array()) {
      job.errors.emplace_back(error.as_string());
    }
    if (value.contains("tenant")) job.tenant = task::Tenant(string("tenant"));
    if (value.contains("cursor")) {
      job.cursor = task::parse_task_id("cursor", string("cursor")).value();
    }
    return job;
  } catch (const std::exception& error) {
    return fail(ErrorCode::kCorrupt, std::string("a bulk job cannot be read: ") + error.what());
  }
}

BulkPlan plan_of(const BulkJob& job, std::vector<FieldError>& errors) {
  BulkPlan plan;
  Fields fields(job.filter, "/filter", errors);
  plan.filter =
      read_filter(fields, {.name = job.by, .role = Role::kOperator, .tenant = job.tenant});
  plan.order.reason = job.reason;
  if (job.action == Action::kRetry) {
    plan_retry(plan, errors);
  } else {
    plan.order.move = move_of(job.action, State::kPending);
  }
  return plan;
}

}  // namespace recourse::api

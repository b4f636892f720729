// The whole: nodes, figures, the audit, live events, health.
#include <fmt/format.h>

#include <charconv>
#include <utility>

#include "api/feed.h"
#include "api/figures.h"
#include "api/metrics.h"
#include "api/openapi.h"
#include "api/route.h"
#include "api/shapes.h"
#include "api/task_filter.h"
#include "base/rfc3339.h"
#include "base/text.h"
#include "guard/door.h"

namespace recourse::api {
namespace {

using boost::json::array;
using boost::json::object;

constexpr std::size_t kTroubleCharacters = 200;

http::Response nodes(Desk& desk, const Call&) {
  const auto rows = desk.opened.reader().nodes(kPatience);
  if (!rows) return refuse(rows.error());
  const task::Incarnation own = desk.node.status().node;
  array items;
  for (const store::NodeRow& row : *rows) {
    object shape = to_json(row);
    shape["is_this"] = row.info.incarnation == own;
    items.push_back(std::move(shape));
  }
  return json_response(object{{"items", std::move(items)}});
}

object node_use(Desk& desk) {
  const engine::Core::Status status = desk.node.status();
  const engine::Executor::Use use = desk.node.executor_use();
  return {{"live", status.live},
          {"stopping", status.stopping},
          {"held_tasks", status.held},
          {"held_bytes", status.held_bytes},
          {"waiting_in_wheel", status.waiting_in_wheel},
          {"claim_batch", status.batch},
          {"threads", use.threads},
          {"busy_threads", use.busy}};
}

http::Response stats(Desk& desk, const Call&) {
  const auto counts = desk.opened.reader().counts(kPatience);
  if (!counts) return refuse(counts.error());
  object states;
  object kinds;
  for (const auto& [key, count] : *counts) {
    const std::string_view state = to_string(key.second);
    const std::int64_t before = states.contains(state) ? states[state].as_int64() : 0;
    states[state] = before + count;
    if (!kinds.contains(key.first.value)) kinds[key.first.value].emplace_object();
    kinds[key.first.value].as_object()[state] = count;
  }
  return json_response(
      object{{"states", std::move(states)}, {"kinds", std::move(kinds)}, {"node", node_use(desk)}});
}

// Due work over all kinds that have any, counted up to a bound.
http::Response backlog(Desk& desk, const Call&) {
  const auto counts = desk.opened.reader().counts(kPatience);
  if (!counts) return refuse(counts.error());
  array items;
  for (const auto& [key, count] : *counts) {
    if (key.second != task::State::kPending || count <= 0) continue;
    const auto due = desk.opened.reader().backlog(key.first, kPatience);
    if (!due) return refuse(due.error());
    items.push_back({{"kind", key.first.value},
                     {"due", due->due},
                     {"more", due->more},
                     {"oldest_due_at", to_json(due->oldest_due)}});
  }
  return json_response(object{{"items", std::move(items)}});
}

http::Response series(Desk& desk, const Call&) {
  array items;
  for (const FigureStep& step : desk.figures.snapshot().steps) {
    items.push_back({{"at", format_rfc3339(step.at)},
                     {"submitted", step.submitted},
                     {"succeeded", step.succeeded},
                     {"retried", step.retried},
                     {"ended_badly", step.ended_badly},
                     {"p50_seconds", quantile(step.took, 0.5)},
                     {"p95_seconds", quantile(step.took, 0.95)},
                     {"p99_seconds", quantile(step.took, 0.99)}});
  }
  return json_response(object{{"step", "10s"}, {"items", std::move(items)}});
}

http::Response audit_page(Desk& desk, const Call& call) {
  // It tells of tasks of all tenants.
  if (call.caller.tenant) {
    return refuse(403,
                  "the whole audit is for tokens of all tenants; look at a task's own instead");
  }
  std::vector<FieldError> errors;
  refuse_other_parameters(call.request, {"limit", "cursor"}, errors);
  const std::size_t limit = read_limit(call.request, errors);
  std::optional<std::int64_t> after;
  if (const auto text = call.request.parameter("cursor")) {
    std::int64_t number = 0;
    const auto [end, error] = std::from_chars(text->data(), text->data() + text->size(), number);
    if (error == std::errc() && end == text->data() + text->size()) {
      after = number;
    } else {
      errors.push_back({"?cursor", "must be the next_cursor of the page before"});
    }
  }
  if (!errors.empty()) return refuse(std::move(errors));
  const auto page = desk.opened.reader().audit(std::nullopt, after, limit, kPatience);
  if (!page) return refuse(page.error());
  array items;
  for (const store::AuditEntry& entry : page->entries) items.push_back(to_json(entry));
  object body{{"items", std::move(items)}, {"next_cursor", nullptr}};
  if (page->next) body["next_cursor"] = std::to_string(*page->next);
  return json_response(body);
}

void events(Desk& desk, const Call& call, http::Responder responder) {
  if (desk.feed.watchers() >= kWatchersMax) {
    return std::move(responder).send(refuse(429, "too many watch already; come back later"));
  }
  auto stream = std::move(responder).stream(
      {.status = 200,
       .headers = {{"Content-Type", "text/event-stream"}, {"Cache-Control", "no-store"}}});
  stream->write("retry: 2000\n\n");
  if (!desk.feed.add(stream, call.caller.tenant)) stream->close();
}

http::Response whoami(Desk&, const Call& call) {
  object shape{{"name", call.caller.name}, {"role", to_string(call.caller.role)}};
  if (call.caller.tenant) shape["tenant"] = call.caller.tenant->value;
  return json_response(shape);
}

http::Response text(std::string body, int status = 200) {
  return {.status = status,
          .headers = {{"Content-Type", "text/plain; charset=utf-8"}},
          .body = std::move(body)};
}

http::Response livez(Desk&, const Call&) { return text("ok\n"); }

// One sick database of somebody's makes no node red: it serves all the others. Why it is sick is
// told to those who may see it (GET /api/v1/guards).
std::string guards_text(const Desk& desk) {
  std::string lines;
  if (desk.guards == nullptr) return lines;
  for (const auto& guard : desk.guards->guards()) {
    lines += fmt::format("guard {}: {}\n", guard->name(),
                         guard->trouble().empty() ? "ok" : "not ready, its last scan failed");
  }
  return lines;
}

// A broker that is away makes nobody red: all else goes on.
std::string sources_text(const Desk& desk) {
  std::string lines;
  if (!desk.messages.sources) return lines;
  for (const SourceCard& source : desk.messages.sources()) {
    const message::FeederFigures& figures = source.figures;
    const std::string how = figures.trouble.empty()
                                ? (figures.connected ? "connected" : "not connected yet")
                                : one_line(figures.trouble, kTroubleCharacters);
    lines += "message source " + source.name + ": " + how + "\n";
  }
  return lines;
}

// Red before anything stops, so that balancers send nothing more.
http::Response readyz(Desk& desk, const Call& call) {
  const engine::Core::Status status = desk.node.status();
  std::string why;
  if (status.stopping) {
    why = "this node is stopping";
  } else if (!status.live) {
    why = "this node has no live heartbeat: is the store there?";
  }
  if (!why.empty()) return refuse(503, why);
  if (!call.request.parameter("verbose")) return text("ok\n");
  return text("node: live\nstore: answers heartbeats\n" + guards_text(desk) + sources_text(desk));
}

http::Response metrics(Desk& desk, const Call&) {
  http::Response response = text(metrics_text(desk));
  response.headers.set("Content-Type", "text/plain; version=0.0.4; charset=utf-8");
  return response;
}

http::Response openapi(Desk&, const Call&) {
  return {.status = 200,
          .headers = {{"Content-Type", "application/json"}},
          .body = std::string(openapi_text())};
}

}  // namespace

std::vector<Route> system_routes() {
  using enum http::Method;
  return {
      {kGet, "/api/v1/nodes", Role::kViewer, Answer(nodes)},
      {kGet, "/api/v1/stats", Role::kViewer, Answer(stats)},
      {kGet, "/api/v1/stats/backlog", Role::kViewer, Answer(backlog)},
      {kGet, "/api/v1/stats/series", Role::kViewer, Answer(series)},
      {kGet, "/api/v1/audit", Role::kViewer, Answer(audit_page)},
      {kGet, "/api/v1/events", Role::kViewer, AnswerLater(events)},
      {kGet, "/api/v1/whoami", Role::kViewer, Answer(whoami)},
      {kGet, "/metrics", Role::kViewer, Answer(metrics)},
      {kGet, "/livez", Role::kNone, Answer(livez)},
      {kGet, "/readyz", Role::kNone, Answer(readyz)},
      {kGet, "/openapi.json", Role::kNone, Answer(openapi)},
  };
}

std::vector<Route> all_routes() {
  std::vector<Route> routes;
  for (auto part : {submit_routes,
                    task_routes,
                    control_routes,
                    case_routes,
                    bulk_routes,
                    create_routes,
                    degrade_routes,
                    guard_routes,
                    abnormal_routes,
                    message_routes,
                    message_consumer_routes,
                    msg_retry_routes,
                    kind_routes,
                    schedule_routes,
                    lease_routes,
                    notify_routes,
                    delivery_routes,
                    alert_routes,
                    token_routes,
                    system_routes}) {
    for (Route& route : part()) routes.push_back(std::move(route));
  }
  return routes;
}

}  // namespace recourse::api

// Looking at tasks.
#include <utility>

#include "api/control.h"
#include "api/explain.h"
#include "api/route.h"
#include "api/shapes.h"
#include "api/task_filter.h"
#include "store/limits.h"

namespace recourse::api {
namespace {

using boost::json::array;
using boost::json::object;

template <class Item>
array to_array(const std::vector<Item>& items) {
  array list;
  for (const Item& item : items) list.push_back(to_json(item));
  return list;
}

http::Response list_tasks(Desk& desk, const Call& call, const store::Filter& filter,
                          std::vector<FieldError> errors) {
  const std::size_t limit = read_limit(call.request, errors);
  const std::optional<task::TaskId> after = read_cursor(call.request, errors);
  if (!errors.empty()) return refuse(std::move(errors));
  const auto page = desk.opened.reader().list(filter, after, limit, kPatience);
  if (!page) return refuse(page.error());
  array items;
  for (const task::Task& task : page->tasks) items.push_back(to_json(task, Payload::kHidden));
  object body{{"items", std::move(items)}, {"next_cursor", nullptr}};
  if (page->next) body["next_cursor"] = task::to_string(*page->next);
  return json_response(body);
}

http::Response show_list(Desk& desk, const Call& call) {
  std::vector<FieldError> errors;
  refuse_other_parameters(call.request,
                          {"state", "kind", "tenant", "unique_key", "key.*", "created_from",
                           "created_before", "limit", "cursor"},
                          errors);
  store::Filter filter = read_filter(call.request, call.caller, errors);
  return list_tasks(desk, call, filter, std::move(errors));
}

http::Response list_dead(Desk& desk, const Call& call) {
  std::vector<FieldError> errors;
  refuse_other_parameters(
      call.request,
      {"kind", "tenant", "key.*", "created_from", "created_before", "limit", "cursor"}, errors);
  store::Filter filter = read_filter(call.request, call.caller, errors);
  filter.states = {task::State::kDead, task::State::kFailed};
  return list_tasks(desk, call, filter, std::move(errors));
}

http::Response show_task(Desk& desk, const Call& call) {
  const auto task = find_task(desk, call);
  if (!task) return refuse(task.error());
  return json_response(to_json(*task, Payload::kShown));
}

http::Response attempts(Desk& desk, const Call& call) {
  const auto task = find_task(desk, call);
  if (!task) return refuse(task.error());
  const auto found = desk.opened.reader().attempts(task->id, kPatience);
  if (!found) return refuse(found.error());
  array items = to_array(*found);
  // An uneventful attempt leaves no row of its own; the task's own row tells it.
  if (task->state == task::State::kSucceeded && task->ended_at) {
    object shape{{"number", task->attempts},
                 {"ended_at", to_json(task->ended_at)},
                 {"owner", task->ended_by ? task::to_string(*task->ended_by) : ""},
                 {"decision", "succeed"}};
    // Of the starts only the first is kept.
    if (task->attempts == 1 && task->first_started_at)
      shape["started_at"] = to_json(task->first_started_at);
    items.push_back(std::move(shape));
  }
  return json_response(object{{"items", std::move(items)}});
}

http::Response notes(Desk& desk, const Call& call) {
  const auto task = find_task(desk, call);
  if (!task) return refuse(task.error());
  const auto found = desk.opened.reader().notes(task->id, kPatience);
  if (!found) return refuse(found.error());
  return json_response(object{{"items", to_array(*found)}});
}

http::Response audit_of_task(Desk& desk, const Call& call) {
  const auto task = find_task(desk, call);
  if (!task) return refuse(task.error());
  const auto page =
      desk.opened.reader().audit(task->id, std::nullopt, store::kPageRowsMax, kPatience);
  if (!page) return refuse(page.error());
  return json_response(object{{"items", to_array(page->entries)}});
}

// The last of them; empty where the audit does not say.
Result<std::optional<store::AuditEntry>> who_paused(Desk& desk, const task::Task& task) {
  std::optional<store::AuditEntry> last;
  if (task.state != task::State::kPaused) return last;
  const auto page =
      desk.opened.reader().audit(task.id, std::nullopt, store::kPageRowsMax, kPatience);
  if (!page) return fail(page.error());
  for (const store::AuditEntry& entry : page->entries) {
    const bool is_pause = entry.action.starts_with("pause");
    if (is_pause && (!last || last->at < entry.at)) last = entry;
  }
  return last;
}

http::Response explain_task(Desk& desk, const Call& call) {
  const auto task = find_task(desk, call);
  if (!task) return refuse(task.error());
  const auto nodes = desk.opened.reader().nodes(kPatience);
  if (!nodes) return refuse(nodes.error());
  const auto pauses = desk.opened.reader().pauses(kPatience);
  if (!pauses) return refuse(pauses.error());
  const auto paused_by = who_paused(desk, *task);
  if (!paused_by) return refuse(paused_by.error());
  const engine::KindRules* rules = desk.node.kinds().find(task->spec.kind);
  const engine::Core::Status status = desk.node.status();
  const Explanation why =
      explain(*task, {.now = desk.node.store_now(),
                      .node = status,
                      .nodes = *nodes,
                      .pauses = *pauses,
                      .paused_by = *paused_by,
                      .is_outside = rules != nullptr && rules->settings.outside});
  return json_response(object{{"id", task::to_string(task->id)},
                              {"state", to_string(task->state)},
                              {"code", why.code},
                              {"explanation", why.text},
                              {"until", to_json(why.until)}});
}

}  // namespace

std::vector<Route> task_routes() {
  using enum http::Method;
  return {
      {kGet, "/api/v1/tasks", Role::kViewer, Answer(show_list)},
      {kGet, "/api/v1/dead", Role::kViewer, Answer(list_dead)},
      {kGet, "/api/v1/tasks/{id}", Role::kViewer, Answer(show_task)},
      {kGet, "/api/v1/tasks/{id}/attempts", Role::kViewer, Answer(attempts)},
      {kGet, "/api/v1/tasks/{id}/notes", Role::kViewer, Answer(notes)},
      {kGet, "/api/v1/tasks/{id}/audit", Role::kViewer, Answer(audit_of_task)},
      {kGet, "/api/v1/tasks/{id}/explain", Role::kViewer, Answer(explain_task)},
  };
}

}  // namespace recourse::api

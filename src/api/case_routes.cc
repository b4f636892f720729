// Cases: who looks after what waits for a person.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "api/body.h"
#include "api/control.h"
#include "api/route.h"
#include "api/shapes.h"
#include "api/task_filter.h"
#include "base/text.h"
#include "store/cases.h"
#include "store/limits.h"
#include "task/control.h"

namespace recourse::api {
namespace {

using boost::json::array;
using boost::json::object;

// The name of those that nobody has.
constexpr std::string_view kNobody = "none";

struct CaseQuery {
  std::optional<std::string> assignee = std::nullopt;
  std::optional<task::TaskId> after = std::nullopt;
  std::size_t limit = 0;
};

CaseQuery read_case_query(const http::Request& request, std::vector<FieldError>& errors) {
  refuse_other_parameters(request, {"assignee", "limit", "cursor"}, errors);
  CaseQuery query{.limit = read_limit(request, errors)};
  if (const auto name = request.parameter("assignee")) {
    query.assignee = *name == kNobody ? std::string() : std::string(*name);
    if (name->empty() || !is_plain_text(*name)) {
      errors.push_back({"?assignee", "must be a name, or none for those that nobody has"});
    }
  }
  if (const auto cursor = request.parameter("cursor")) {
    const auto id = task::parse_task_id("cursor", *cursor);
    if (id) query.after = *id;
    if (!id) errors.push_back({"?cursor", "must be the next_cursor of the page before"});
  }
  return query;
}

struct CaseItems {
  array items = {};
  std::optional<task::TaskId> next = std::nullopt;
};

// Cases know no tenant: a caller of one tenant is shown those of a bounded look at all of them.
Result<CaseItems> collect(Desk& desk, const Call& call, const CaseQuery& query) {
  const std::size_t rows = call.caller.tenant ? store::kPageRowsMax : query.limit;
  CaseItems found;
  std::optional<task::TaskId> after = query.after;
  for (std::size_t looked = 0; looked < store::kPageLooksMax; looked += rows) {
    const auto page = desk.opened.cases().list(query.assignee, after, rows, kPatience);
    if (!page) return fail(page.error());
    auto task = page->tasks.begin();
    for (const store::Case& one : page->cases) {
      after = one.task;
      while (task != page->tasks.end() && task->id < one.task) ++task;
      const bool is_there = task != page->tasks.end() && task->id == one.task;
      if (!is_there || !call.caller.may_see(task->spec.tenant)) continue;
      found.items.push_back(to_json(one, *task));
      found.next = after;
      if (found.items.size() == query.limit) return found;
    }
    found.next = page->next;
    if (!page->next) return found;
  }
  return found;
}

http::Response list_cases(Desk& desk, const Call& call) {
  std::vector<FieldError> errors;
  const CaseQuery query = read_case_query(call.request, errors);
  if (!errors.empty()) return refuse(std::move(errors));
  auto found = collect(desk, call, query);
  if (!found) return refuse(found.error());
  object body{{"items", std::move(found->items)}, {"next_cursor", nullptr}};
  if (found->next) body["next_cursor"] = task::to_string(*found->next);
  return json_response(body);
}

http::Response no_case(const task::Task& task) {
  const std::string id = task::to_string(task.id);
  if (task::is_finished(task.state)) {
    return refuse(404, fmt::format("{} is {}: it is finished and waits for nobody any more", id,
                                   to_string(task.state)));
  }
  if (!task::needs_person(task.state)) {
    return refuse(404, fmt::format("{} is {}: it has not escalated, so it waits for nobody", id,
                                   to_string(task.state)));
  }
  return refuse(404, fmt::format("the case of {} was opened or closed just now: look again", id));
}

http::Response shown_case(const task::Task& task, const Result<store::Case>& now) {
  if (now) return json_response(to_json(*now, task));
  return now.error().code == ErrorCode::kNotFound ? no_case(task) : refuse(now.error());
}

http::Response show_case(Desk& desk, const Call& call) {
  const auto task = find_task(desk, call);
  if (!task) return refuse(task.error());
  const auto found = desk.opened.cases().find(task->id, kPatience);
  if (!found) return refuse(found.error());
  return *found ? shown_case(*task, **found) : no_case(*task);
}

std::string read_note(Fields& fields) {
  std::string note = fields.text("note").value_or("");
  if (note.size() > task::kReasonBytesMax) {
    fields.refuse("note", fmt::format("has {} bytes; at most {} are allowed", note.size(),
                                      task::kReasonBytesMax));
  }
  return note;
}

// Whoever asks, unless they name somebody.
std::string read_assignee(Fields& fields, const std::string& caller) {
  const std::string name = fields.text("assignee").value_or(caller);
  if (name.empty() || name.size() > store::kAssigneeBytesMax || !is_plain_text(name) ||
      name == kNobody) {
    fields.refuse("assignee", fmt::format("must be a name of up to {} bytes of plain text, and not "
                                          "{}; give-back takes it from whoever has it",
                                          store::kAssigneeBytesMax, kNobody));
  }
  return name;
}

// By the store's clock, so that nobody's clock but one matters.
std::optional<TimePoint> read_due(Fields& fields, TimePoint now) {
  const std::optional<TimePoint> at = fields.time("due_at");
  const std::optional<Duration> in = fields.duration("due_in", kLongestWait);
  if (at && in) fields.refuse("due_in", "cannot be given beside due_at");
  if (at && *at <= now) fields.refuse("due_at", "is over; leave it out to be reminded no more");
  return in ? saturating_add(now, *in) : at;
}

http::Response assign(Desk& desk, const Call& call, const store::Assignment& assignment) {
  const auto task = find_task(desk, call);
  if (!task) return refuse(task.error());
  const auto items =
      desk.opened.cases().assign({&task->id, 1}, assignment, call.caller.name, kPatience);
  if (!items) return refuse(items.error());
  return shown_case(*task, items->front().now);
}

http::Response take(Desk& desk, const Call& call) {
  const auto body = read_body(call.request);
  if (!body) return refuse(400, body.error().message);
  std::vector<FieldError> errors;
  Fields fields(*body, "", errors);
  store::Assignment assignment{
      .assignee = read_assignee(fields, call.caller.name), .due = std::nullopt, .note = ""};
  assignment.due = read_due(fields, desk.node.store_now());
  assignment.note = read_note(fields);
  fields.refuse_others();
  if (!errors.empty()) return refuse(std::move(errors));
  return assign(desk, call, assignment);
}

http::Response give_back(Desk& desk, const Call& call) {
  const auto body = read_body(call.request);
  if (!body) return refuse(400, body.error().message);
  std::vector<FieldError> errors;
  Fields fields(*body, "", errors);
  const std::string note = read_note(fields);
  fields.refuse_others();
  if (!errors.empty()) return refuse(std::move(errors));
  return assign(desk, call, {.assignee = "", .due = std::nullopt, .note = note});
}

http::Response add_note(Desk& desk, const Call& call) {
  const auto body = read_body(call.request);
  if (!body) return refuse(400, body.error().message);
  std::vector<FieldError> errors;
  Fields fields(*body, "", errors);
  (void)fields.required_text("note");
  const std::string note = read_note(fields);
  fields.refuse_others();
  if (!errors.empty()) return refuse(std::move(errors));
  const auto task = find_task(desk, call);
  if (!task) return refuse(task.error());
  return shown_case(*task, desk.opened.cases().note(task->id, note, call.caller.name, kPatience));
}

}  // namespace

std::vector<Route> case_routes() {
  using enum http::Method;
  return {
      {kGet, "/api/v1/cases", Role::kViewer, Answer(list_cases)},
      {kGet, "/api/v1/tasks/{id}/case", Role::kViewer, Answer(show_case)},
      {kPost, "/api/v1/tasks/{id}/case/take", Role::kOperator, Answer(take)},
      {kPost, "/api/v1/tasks/{id}/case/give-back", Role::kOperator, Answer(give_back)},
      {kPost, "/api/v1/tasks/{id}/case/note", Role::kOperator, Answer(add_note)},
  };
}

}  // namespace recourse::api

// The guard door over HTTP, in our own style: guards, what they see, and what business code in
// other languages asks of them.
#include <fmt/format.h>

#include <array>
#include <utility>

#include "api/body.h"
#include "api/guard_bodies.h"
#include "api/route.h"
#include "api/task_filter.h"
#include "base/text.h"
#include "guard/door.h"

namespace recourse::api {
namespace {

using boost::json::array;
using boost::json::object;

// A scan of a large table, or one that waits for another to end.
constexpr Duration kScanPatience = std::chrono::seconds(30);

// Business tables know nothing of tenants.
Answer for_everybody(http::Response (*answer)(Desk&, const Call&)) {
  return [answer](Desk& desk, const Call& call) {
    if (!call.caller.tenant) return answer(desk, call);
    return refuse(403,
                  "guarded tables belong to all tenants; this needs a token that is not one's "
                  "alone");
  };
}

// The first {name} of the path.
Result<guard::Guard*> find_guard(Desk& desk, const Call& call) {
  const std::string& name = call.parameters.front();
  guard::Guard* found = desk.guards == nullptr ? nullptr : desk.guards->find(name);
  if (found != nullptr) return found;
  return fail(ErrorCode::kNotFound,
              fmt::format("there is no guard {} here; GET /api/v1/guards lists them", shown(name)));
}

struct Asked {
  guard::Guard* guard = nullptr;
  guard::RowId id;
};

// {name} and {id}.
Result<Asked> find_row(Desk& desk, const Call& call) {
  const auto guard = find_guard(desk, call);
  if (!guard) return fail(guard.error());
  auto id = (*guard)->table().parse_id(call.parameters.at(1));
  if (!id) return fail(id.error());
  return Asked{*guard, *std::move(id)};
}

Error no_row(const Asked& asked) {
  const guard::GuardSettings& settings = asked.guard->settings();
  return {ErrorCode::kNotFound,
          fmt::format("{} has no row whose {} is {}, or its transaction has not been committed yet",
                      settings.table, settings.id_field, guard::to_string(asked.id))};
}

http::Response list_guards(Desk& desk, const Call&) {
  array items;
  if (desk.guards != nullptr) {
    for (const auto& guard : desk.guards->guards()) items.push_back(to_json(*guard));
  }
  return json_response(object{{"items", std::move(items)}});
}

http::Response report(Desk& desk, const Call& call) {
  const auto guard = find_guard(desk, call);
  if (!guard) return refuse(guard.error());
  const auto report = (*guard)->table().report(kPatience);
  if (!report) return refuse(report.error());
  object shape{{"guard", (*guard)->name()}, {"table", (*guard)->settings().table}};
  for (const auto& [name, value] : to_json(*report)) shape[name] = value;
  return json_response(shape);
}

// Those in trouble, or of the err_status that is asked for.
std::vector<std::int32_t> read_err_status(const http::Request& request,
                                          std::vector<FieldError>& errors) {
  constexpr std::array kCodes{2000, 2001, 2002, 4000, 4001};
  const auto given = request.parameter("err_status");
  if (!given) return {4000, 4001};
  for (const std::int32_t code : kCodes) {
    if (*given == fmt::format("{}", code)) return {code};
  }
  errors.push_back({"?err_status", fmt::format("must be one of {}", fmt::join(kCodes, ", "))});
  return {};
}

http::Response list_rows(Desk& desk, const Call& call) {
  const auto guard = find_guard(desk, call);
  if (!guard) return refuse(guard.error());
  std::vector<FieldError> errors;
  refuse_other_parameters(call.request, {"err_status", "limit"}, errors);
  const guard::ListQuery asked{.err_statuses = read_err_status(call.request, errors),
                               .limit = read_limit(call.request, errors)};
  if (!errors.empty()) return refuse(std::move(errors));
  const auto rows = (*guard)->table().rows(asked, kPatience);
  if (!rows) return refuse(rows.error());
  const auto total = (*guard)->table().count(asked, kPatience);
  if (!total) return refuse(total.error());
  const auto now = (*guard)->table().now(kPatience);
  if (!now) return refuse(now.error());
  array items;
  for (const guard::Row& row : *rows) items.push_back(to_json(row));
  return json_response(object{{"guard", (*guard)->name()},
                              {"table", (*guard)->settings().table},
                              {"items", std::move(items)},
                              {"total", *total},
                              {"now", to_json(std::optional(*now))}});
}

http::Response explain_row(Desk& desk, const Call& call) {
  const auto asked = find_row(desk, call);
  if (!asked) return refuse(asked.error());
  const auto explanation = asked->guard->explain(asked->id, kPatience);
  if (!explanation) return refuse(explanation.error());
  object shape{{"guard", asked->guard->name()}, {"table", asked->guard->settings().table}};
  for (const auto& [name, value] : to_json(*explanation)) shape[name] = value;
  return json_response(shape);
}

http::Response mark_abnormal(Desk& desk, const Call& call) {
  const auto body = read_body(call.request);
  if (!body) return refuse(400, body.error().message);
  std::vector<FieldError> errors;
  Fields fields(*body, "", errors);
  const std::optional<std::string> user = fields.text("user");
  fields.refuse_others();
  if (!errors.empty()) return refuse(std::move(errors));
  const auto asked = find_row(desk, call);
  if (!asked) return refuse(asked.error());
  const auto marked = asked->guard->mark_abnormal(asked->id, user, kPatience);
  if (!marked) return refuse(marked.error());
  // A caller that does not look at numbers hears of it too.
  if (marked->rows == 0) return refuse(no_row(*asked));
  object shape{{"id", to_json(asked->id)}, {"rows", marked->rows}, {"err_status", nullptr}};
  if (marked->err_status) shape["err_status"] = *marked->err_status;
  return json_response(shape);
}

http::Response retry_row(Desk& desk, const Call& call) {
  const auto asked = find_row(desk, call);
  if (!asked) return refuse(asked.error());
  const Result<> begun = asked->guard->retry(asked->id, kPatience);
  if (!begun) return refuse(begun.error());
  desk.log.info("guard_retry_by_person", {{"guard", asked->guard->name()},
                                          {"row", guard::to_string(asked->id)},
                                          {"by", call.caller.name}});
  return json_response(object{{"id", to_json(asked->id)}, {"rows", 1}});
}

http::Response succeed(Desk& desk, const Call& call) {
  const auto asked = find_row(desk, call);
  if (!asked) return refuse(asked.error());
  const auto rows = asked->guard->manual_success(asked->id, kPatience);
  if (!rows) return refuse(rows.error());
  if (*rows == 0) return refuse(no_row(*asked));
  desk.log.info("guard_success_by_person", {{"guard", asked->guard->name()},
                                            {"row", guard::to_string(asked->id)},
                                            {"by", call.caller.name}});
  return json_response(object{{"id", to_json(asked->id)}, {"rows", *rows}});
}

http::Response check_user(Desk& desk, const Call& call) {
  const auto guard = find_guard(desk, call);
  if (!guard) return refuse(guard.error());
  const std::string& user = call.parameters.at(1);
  const auto rows = (*guard)->open_rows_of(user, kPatience);
  if (!rows) return refuse(rows.error());
  array open;
  for (const guard::RowId& id : *rows) open.push_back(to_json(id));
  return json_response(
      object{{"user", user}, {"may_go_on", open.empty()}, {"open_rows", std::move(open)}});
}

http::Response scan(Desk& desk, const Call& call) {
  const auto guard = find_guard(desk, call);
  if (!guard) return refuse(guard.error());
  const auto report = (*guard)->scan_now(kScanPatience);
  if (!report) return refuse(report.error());
  return json_response(to_json(*report));
}

}  // namespace

std::vector<Route> guard_routes() {
  using enum http::Method;
  return {
      {kGet, "/api/v1/guards", Role::kViewer, for_everybody(list_guards)},
      {kGet, "/api/v1/guards/{name}/report", Role::kViewer, for_everybody(report)},
      {kPost, "/api/v1/guards/{name}/scan", Role::kOperator, for_everybody(scan)},
      {kGet, "/api/v1/guards/{name}/rows", Role::kViewer, for_everybody(list_rows)},
      {kGet, "/api/v1/guards/{name}/rows/{id}", Role::kViewer, for_everybody(explain_row)},
      {kPost, "/api/v1/guards/{name}/rows/{id}/abnormal", Role::kOperator,
       for_everybody(mark_abnormal)},
      {kPost, "/api/v1/guards/{name}/rows/{id}/retry", Role::kOperator, for_everybody(retry_row)},
      {kPost, "/api/v1/guards/{name}/rows/{id}/success", Role::kOperator, for_everybody(succeed)},
      {kGet, "/api/v1/guards/{name}/users/{user}", Role::kViewer, for_everybody(check_user)},
  };
}

}  // namespace recourse::api

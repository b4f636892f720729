// The source's own routes: the list of rows in trouble over all guards, and each guard's
// manual-success route. Names, shapes and words are the source's.
#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "api/abnormal_ask.h"
#include "api/body.h"
#include "api/guard_bodies.h"
#include "api/route.h"
#include "api/source_shape.h"
#include "guard/door.h"

namespace recourse::api {
namespace {

using boost::json::array;
using boost::json::object;

// Business tables know nothing of tenants.
constexpr const char* kNoTenants = "此接口不区分租户；请使用不限租户的令牌";

struct Listed {
  const guard::Guard* guard;
  guard::ListedRow row;
};

object to_record(const Listed& listed) {
  object record;
  for (const auto& [name, cell] : listed.row.columns) record[name] = to_json(cell);
  const guard::GuardSettings& settings = listed.guard->settings();
  record["table"] = settings.table;
  record["serviceName"] = settings.service_name;
  record["manualSuccessRoute"] = listed.guard->manual_success_route();
  return record;
}

std::vector<guard::Guard*> guards_of(const Desk& desk, const AbnormalAsk& ask) {
  std::vector<guard::Guard*> guards;
  if (desk.guards == nullptr) return guards;
  for (const auto& guard : desk.guards->guards()) {
    const bool is_wanted =
        ask.services.empty() || ask.services.contains(guard->settings().service_name);
    if (is_wanted) guards.push_back(guard.get());
  }
  return guards;
}

array service_names(const Desk& desk) {
  array names;
  if (desk.guards == nullptr) return names;
  for (const auto& guard : desk.guards->guards()) {
    const boost::json::value name(guard->settings().service_name);
    if (std::ranges::find(names, name) == names.end()) names.push_back(name);
  }
  return names;
}

struct Gathered {
  std::vector<Listed> rows;
  std::int64_t total = 0;
  object comments;
};

Result<> add_rows_of(guard::Guard& guard, const guard::ListQuery& query, Gathered& all) {
  auto rows = guard.table().list(query, kPatience);
  if (!rows) return fail(rows.error());
  const auto count = guard.table().count(query, kPatience);
  if (!count) return fail(count.error());
  const auto comments = guard.table().comments(kPatience);
  if (!comments) return fail(comments.error());
  for (guard::ListedRow& row : *rows) all.rows.push_back({&guard, std::move(row)});
  all.total += *count;
  object& of_table = all.comments[guard.settings().table].emplace_object();
  for (const auto& [column, comment] : *comments) of_table[column] = comment;
  return {};
}

// The beginning of each table, as far as the page goes. One whose database does not answer hides no
// other's rows; an error only where none answers.
Result<Gathered> gather(const std::vector<guard::Guard*>& guards, const AbnormalAsk& ask,
                        Log& log) {
  Gathered all;
  const guard::ListQuery query{.err_statuses = ask.err_statuses,
                               .limit = ask.page_num * ask.page_size};
  std::size_t missing = 0;
  for (guard::Guard* guard : guards) {
    const Result<> added = add_rows_of(*guard, query, all);
    if (added) continue;
    if (++missing == guards.size()) return fail(added.error());
    log.warning("guard_not_listed", {{"guard", guard->name()}, {"error", added.error().message}});
  }
  // Newest first; what has no time comes last, as in each table.
  std::ranges::stable_sort(all.rows, [](const Listed& a, const Listed& b) {
    return a.row.start_time > b.row.start_time;
  });
  return all;
}

http::Response list_abnormal(Desk& desk, const Call& call) {
  if (call.caller.tenant) return source_refusal(403, kNoTenants);
  const auto body = read_body(call.request);
  if (!body) return source_refusal(400, "请求体必须是 JSON 对象：" + body.error().message);
  const auto ask = read_abnormal_ask(*body);
  if (!ask) return source_refusal(400, ask.error().message);
  auto all = gather(guards_of(desk, *ask), *ask, desk.log);
  if (!all) return source_refusal(all.error());
  array records;
  const std::size_t begin = (ask->page_num - 1) * ask->page_size;
  for (std::size_t i = begin; i < all->rows.size() && i < begin + ask->page_size; ++i) {
    records.push_back(to_record(all->rows[i]));
  }
  return source_answer("获取成功", object{{"records", std::move(records)},
                                          {"total", all->total},
                                          {"pageNum", ask->page_num},
                                          {"pageSize", ask->page_size},
                                          {"serviceNames", service_names(desk)},
                                          {"columnComments", std::move(all->comments)}});
}

http::Response succeed(Desk& desk, const Call& call, guard::Guard& guard) {
  if (call.caller.tenant) return source_refusal(403, kNoTenants);
  const auto given = call.request.parameter("dataId");
  if (!given || given->empty()) return source_refusal(400, "缺少参数 dataId，例如 ?dataId=10");
  const auto id = guard.table().parse_id(std::string(*given));
  if (!id) return source_refusal(400, "dataId 无效：" + id.error().message);
  const auto rows = guard.manual_success(*id, kPatience);
  if (!rows) return source_refusal(rows.error());
  if (*rows == 0) {
    return source_refusal(404, fmt::format("{} 中没有 {} 为 {} 的记录", guard.settings().table,
                                           guard.settings().id_field, guard::to_string(*id)));
  }
  desk.log.info(
      "guard_success_by_person",
      {{"guard", guard.name()}, {"row", guard::to_string(*id)}, {"by", call.caller.name}});
  return source_answer("人工处理成功", to_json(*id));
}

}  // namespace

std::vector<Route> abnormal_routes() {
  return {{http::Method::kPost, "/api/admin/abnormal/list", Role::kViewer, Answer(list_abnormal),
           Shape::kSource}};
}

std::vector<GuardRoute> manual_success_routes(const Desk& desk) {
  std::vector<GuardRoute> routes;
  if (desk.guards == nullptr) return routes;
  for (const auto& guard : desk.guards->guards()) {
    const std::string& path = guard->settings().manual_success_route;
    if (path.empty()) continue;
    routes.push_back({.guard = *guard,
                      .route = {http::Method::kPost, path, Role::kOperator,
                                Answer([guard = guard.get()](Desk& at, const Call& call) {
                                  return succeed(at, call, *guard);
                                }),
                                Shape::kSource}});
  }
  return routes;
}

}  // namespace recourse::api

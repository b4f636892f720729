// The source's own routes: names, shapes and words are the source's.
#include <gmock/gmock.h>

#include "tests/server_guard_fixture.h"

namespace recourse::app {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;

constexpr const char* kList = "/api/admin/abnormal/list";

class ApiAbnormal : public ApiGuard {
 protected:
  void start_with_route(const std::string& route) {
    start_guard(
        "    min-interval-seconds: 600\n    scan-interval-seconds: 3600\n"
        "    manual-success-route: " +
        route + "\n");
  }
  std::vector<std::int64_t> ids(const std::string& ask) {
    std::vector<std::int64_t> found;
    const value answer = source_call(kList, ask).json();
    for (const value& record : answer.at("data").at("records").as_array()) {
      found.push_back(record.at("id").as_int64());
    }
    return found;
  }
};

// GUARD-13, GUARD-14
TEST_P(ApiAbnormal, ThePersonsRouteAnswersAsTheSourceSays) {
  shop_.add_row(10);
  start_with_route("/api/user/admin/manual-bill-success");
  mark(10);

  const Reply reply = source_call("/api/user/admin/manual-bill-success?dataId=10", "", "OPERATOR");

  EXPECT_EQ(reply.status, 200);
  EXPECT_EQ(reply.json(), (value{{"code", 200}, {"msg", "人工处理成功"}, {"data", 10}}));
  EXPECT_EQ(shop_.cell("err_status", 10), "2002");
  EXPECT_EQ(shop_.cell("err_submit_manual_status", 10), "4002");
  EXPECT_EQ(shop_.cell("status", 10), "SUCCESS");
}

// GUARD-14: auth as everywhere else, refusals in the source's shape.
TEST_P(ApiAbnormal, RefusalsHaveTheSourcesShapeAndTheMatchingStatus) {
  start_with_route("/api/bill/success");
  const auto refused = [&](const std::string& target, const std::string& who) {
    const Reply reply = source_call(target, "", who);
    EXPECT_EQ(reply.json().at("code"), reply.status) << reply.body;
    EXPECT_TRUE(reply.json().at("data").is_null());
    EXPECT_FALSE(reply.text("msg").empty());
    return reply.status;
  };

  EXPECT_EQ(refused("/api/bill/success", "OPERATOR"), 400);
  EXPECT_EQ(refused("/api/bill/success?dataId=ten", "OPERATOR"), 400);
  EXPECT_EQ(refused("/api/bill/success?dataId=99", "OPERATOR"), 404);
  EXPECT_EQ(refused("/api/bill/success?dataId=99", "VIEWER"), 403);
  EXPECT_EQ(refused("/api/bill/success?dataId=99", "MINE"), 403);
  EXPECT_EQ(refused("/api/bill/success?dataId=99", ""), 401);
  EXPECT_EQ(refused(kList, ""), 401);
}

// GUARD-14: the server's own route stays what it is.
TEST_P(ApiAbnormal, ARouteThatIsTakenIsSkippedWithAWarning) {
  start_with_route("/api/v1/degrade/clean");

  EXPECT_THAT(log_.lines(), Contains(HasSubstr("guard_route_taken")));
  EXPECT_EQ(post("/api/v1/degrade/clean", "{}").json().at("deleted"), 0);
  const value guards = get("/api/v1/guards").json();
  EXPECT_EQ(guards.at("items").at(0).at("manual_success_route"), "") << "it is named to nobody";
}

// GUARD-4: an empty route registers nothing.
TEST_P(ApiAbnormal, WithoutARouteThereIsNone) {
  start_guard();

  EXPECT_EQ(call(http::Method::kPost, "/api/bill/success?dataId=1").status, 404);
}

// GUARD-15
TEST_P(ApiAbnormal, TheListHasAllThatTheSourceShows) {
  shop_.add_row(10);
  start_with_route("/api/user/admin/manual-bill-success");
  spoil(10, 4001, "2026-02-05 12:00:00");

  const Reply reply = source_call(
      kList, R"({"pageNum":1,"pageSize":20,"serviceName":"账单","errStatusList":[4000,4001]})",
      "VIEWER");

  ASSERT_EQ(reply.status, 200) << reply.body;
  const value answer = reply.json();
  EXPECT_EQ(answer.at("code"), 200);
  EXPECT_EQ(answer.at("msg"), "获取成功");
  const value& data = answer.at("data");
  EXPECT_EQ(data.at("total"), 1);
  EXPECT_EQ(data.at("pageNum"), 1);
  EXPECT_EQ(data.at("pageSize"), 20);
  EXPECT_EQ(data.at("serviceNames"), (array{"账单"}));
  const value& record = data.at("records").at(0);
  EXPECT_EQ(record.at("id"), 10);
  EXPECT_EQ(record.at("user_id"), 1000);
  EXPECT_EQ(record.at("status"), "FAIL");
  EXPECT_EQ(record.at("err_status"), 4001);
  EXPECT_EQ(record.at("err_start_time"), "2026-02-05 12:00:00");
  EXPECT_TRUE(record.at("err_next_retry_time").is_null());
  EXPECT_EQ(record.at("table"), "user_bill");
  EXPECT_EQ(record.at("serviceName"), "账单");
  EXPECT_EQ(record.at("manualSuccessRoute"), "/api/user/admin/manual-bill-success");
  // SQLite keeps no comments.
  if (std::string(GetParam()) != "sqlite") {
    EXPECT_EQ(data.at("columnComments").at("user_bill").at("user_id"), "用户ID");
  }
}

// GUARD-15: newest error first across tables, in pages, filtered.
TEST_P(ApiAbnormal, SeveralTablesAreOneListNewestFirst) {
  shop_.add_table("refund");
  for (const int id : {1, 2, 3}) shop_.add_row(id);
  for (const int id : {4, 5}) shop_.add_row(id, "FAIL", "refund");
  start_guard("    scan-interval-seconds: 3600\n",
              "  refund: {table: refund, service-name: 退款, status-field: status, "
              "success-value: SUCCESS, fail-value: FAIL, scan-interval-seconds: 3600, database: "
              "env:SHOP}\n");
  spoil(1, 4001, "2026-02-05 12:00:00");
  spoil(2, 2001, "2026-02-05 14:00:00");
  spoil(4, 4000, "2026-02-05 13:00:00", "refund");
  spoil(5, 2000, "2026-02-05 15:00:00", "refund");

  EXPECT_THAT(ids("{}"), ElementsAre(2, 4, 1)) << "not what is normal, and not what never failed";
  EXPECT_THAT(ids(R"({"pageSize":2})"), ElementsAre(2, 4));
  EXPECT_THAT(ids(R"({"pageSize":2,"pageNum":2})"), ElementsAre(1));
  EXPECT_THAT(ids(R"({"serviceName":"退款"})"), ElementsAre(4));
  EXPECT_THAT(ids(R"({"serviceNameList":["退款","账单"],"errStatus":4001})"), ElementsAre(1));
  EXPECT_THAT(ids(R"({"errStatusList":[2000]})"), ElementsAre(5));
  EXPECT_THAT(ids(R"({"serviceName":"没有"})"), ElementsAre());
  const value answer = source_call(kList, R"({"pageSize":1,"serviceName":"退款"})").json();
  EXPECT_EQ(answer.at("data").at("total"), 1);
  EXPECT_EQ(answer.at("data").at("serviceNames"), (array{"退款", "账单"}));
  EXPECT_EQ(source_call(kList, R"({"pageSize":5000})").status, 400);
  EXPECT_EQ(source_call(kList, "[]").status, 400);
}

INSTANTIATE_TEST_SUITE_P(Shops, ApiAbnormal, testing::ValuesIn(kShops), store_name);

}  // namespace
}  // namespace recourse::app

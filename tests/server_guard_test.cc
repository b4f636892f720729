// The guard door over the wire, in our own style: tables of a database that is not the server's.
#include <gmock/gmock.h>

#include "tests/engine_fixture.h"
#include "tests/server_guard_fixture.h"
#include "tests/support/temporary_directory.h"

namespace recourse::app {
namespace {

using testing::HasSubstr;

// GUARD-5, GUARD-9: over HTTP as in the library.
TEST_P(ApiGuard, AMarkedRowIsMendedByTheService) {
  shop_.add_row(7);
  start_guard();

  mark(7);

  ASSERT_TRUE(becomes(7, "2001"));
  EXPECT_EQ(shop_.cell("status", 7), "SUCCESS");
  std::vector<std::string> targets;
  for (const auto& call : seen()) targets.push_back(call.target);
  EXPECT_THAT(targets, testing::ElementsAre("/check", "/handle", "/check"));
}

// GUARD-9, GUARD-10, GUARD-12: what fails is counted, ends with a person, and somebody is told.
TEST_P(ApiGuard, WhatTheServiceCannotMendEndsWithAPerson) {
  shop_.add_row(7);
  mends_ = false;
  start_guard("    max-retry-count: 1\n");

  mark(7);

  ASSERT_TRUE(becomes(7, "4001"));
  EXPECT_EQ(shop_.cell("status", 7), "FAIL");
  EXPECT_EQ(shop_.cell("err_retry_count", 7), "1");
  ASSERT_TRUE(eventually([this] { return shop_.cell("err_submit_manual_status", 7) == "2000"; }))
      << "the log counts as somebody";
  EXPECT_EQ(shop_.cell("err_manual_notify_count", 7), "1");
}

// What no database takes as text is refused, and nothing is written.
TEST_P(ApiGuard, OddBytesInKeysAndUsersAreRefused) {
  shop_.add_row(7);
  shop_.run("CREATE TABLE parcel (code VARCHAR(40) PRIMARY KEY, state INTEGER, owner VARCHAR(9))");
  start("  work: {type: worker}\n",
        "guards: {parcel: {table: parcel, id-field: code, user-field: owner, status-field: state, "
        "success-value: 1, fail-value: 0, database: env:SHOP, manual-success-route: /done}}\n");

  for (const std::string odd : {"a%00b", "%FF", "%ED%A0%80"}) {
    const std::string rows = "/api/v1/guards/parcel/rows/" + odd;
    EXPECT_THAT(get(rows).status, testing::AnyOf(400, 404, 422)) << odd;
    EXPECT_THAT(post(rows + "/success", "{}").status, testing::AnyOf(400, 404, 422)) << odd;
    EXPECT_THAT(get("/api/v1/guards/parcel/users/" + odd).status, testing::AnyOf(200, 400, 422))
        << odd;
    EXPECT_THAT(source_call("/done?dataId=" + odd).status, testing::AnyOf(400, 404)) << odd;
  }
  EXPECT_THAT(post("/api/v1/guards/parcel/rows/x/abnormal", R"({"user":"a\u0000b"})").status,
              testing::AnyOf(404, 422));
  EXPECT_EQ(get("/api/v1/guards").status, 200);
}

// GUARD-5
TEST_P(ApiGuard, AUserWithARowInTroubleIsNamedIt) {
  shop_.add_row(7);
  start_guard("    min-interval-seconds: 600\n");
  EXPECT_EQ(get("/api/v1/guards/user-bill/users/1000").json().at("may_go_on"), true);

  mark(7);

  const value answer = get("/api/v1/guards/user-bill/users/1000").json();
  EXPECT_EQ(answer.at("may_go_on"), false);
  EXPECT_EQ(answer.at("open_rows"), (array{7}));
  EXPECT_EQ(get("/api/v1/guards/user-bill/users/1001").json().at("may_go_on"), true);
}

// GUARD-5: no row touched is told, not hidden.
TEST_P(ApiGuard, MarkingARowThatIsNotThereIsRefused) {
  start_guard();

  const Reply reply = post(row(99) + "/abnormal", "{}");

  EXPECT_EQ(reply.status, 404);
  EXPECT_THAT(reply.text("detail"), HasSubstr("has not been committed yet"));
  EXPECT_EQ(post("/api/v1/guards/user-bill/rows/x/abnormal", "{}").status, 422);
  EXPECT_EQ(post(row(99) + "/abnormal", R"({"usr":"1"})").status, 422);
}

// GUARD-9: why a row is not scanned.
TEST_P(ApiGuard, ARowIsExplained) {
  shop_.add_row(7);
  shop_.add_row(8, "SUCCESS");
  start_guard("    min-interval-seconds: 600\n");
  mark(7);

  const value waits = get(row(7)).json();
  const value well = get(row(8)).json();

  EXPECT_EQ(waits.at("standing"), "later");
  EXPECT_EQ(waits.at("err_status"), 4000);
  EXPECT_EQ(waits.at("business_status"), "FAIL");
  EXPECT_TRUE(waits.at("err_next_retry_time").is_string());
  EXPECT_EQ(well.at("standing"), "not_waiting");
  EXPECT_FALSE(well.at("explanation").as_string().empty());
  EXPECT_TRUE(well.at("task").is_null());
  EXPECT_TRUE(eventually([&] {
    const value seen = get(row(7)).json();
    return seen.at("task").is_object() && seen.at("task").at("state") == "pending" &&
           seen.at("task").at("last_error").is_null();
  })) << "the engine has it for its time";
  EXPECT_EQ(get(row(9)).status, 404);
  EXPECT_EQ(get("/api/v1/guards/nobody/rows/7").status, 404);
}

// `guard rows`
TEST_P(ApiGuard, RowsInTroubleAreListed) {
  for (int id = 1; id <= 4; ++id) shop_.add_row(id);
  start_guard("    min-interval-seconds: 600\n");
  for (const int id : {1, 2, 3}) mark(id);
  shop_.run("UPDATE user_bill SET err_status = 4001 WHERE id = 2");

  const value all = get("/api/v1/guards/user-bill/rows").json();
  const value one = get("/api/v1/guards/user-bill/rows?limit=1").json();
  const value with_person = get("/api/v1/guards/user-bill/rows?err_status=4001").json();

  EXPECT_EQ(all.at("items").as_array().size(), 3U);
  EXPECT_EQ(one.at("items").as_array().size(), 1U);
  EXPECT_EQ(one.at("total"), 3);
  ASSERT_EQ(with_person.at("items").as_array().size(), 1U);
  EXPECT_EQ(with_person.at("items").at(0).at("id"), 2);
  EXPECT_EQ(with_person.at("items").at(0).at("business_status"), "FAIL");
  EXPECT_EQ(get("/api/v1/guards/user-bill/rows?err_status=1").status, 422);
  EXPECT_EQ(get("/api/v1/guards/user-bill/rows?status=4001").status, 422);
  EXPECT_EQ(get("/api/v1/guards/nobody/rows").status, 404);
}

// `guard watch`
TEST_P(ApiGuard, AReportSaysWhatIsStuckAndWhatDrifted) {
  for (int id = 1; id <= 4; ++id) shop_.add_row(id);
  start_guard("    min-interval-seconds: 600\n    scan-interval-seconds: 3600\n");
  mark(1);
  mark(2);
  mark(3);
  shop_.run("UPDATE user_bill SET status = 'SUCCESS' WHERE id = 2");
  shop_.run("UPDATE user_bill SET status = 'ODD' WHERE id = 3");

  const value report = get("/api/v1/guards/user-bill/report").json();

  EXPECT_EQ(report.at("waiting"), 3);
  EXPECT_EQ(report.at("needs_person"), 0);
  EXPECT_TRUE(report.at("oldest_error_at").is_string());
  EXPECT_EQ(report.at("drift").at("healed_unnoticed"), 1);
  EXPECT_EQ(report.at("drift").at("failed_unmarked"), 1);
  EXPECT_EQ(report.at("drift").at("other_status"), 1);
  EXPECT_EQ(shop_.cell("err_status", 2), "4000") << "a report changes nothing";
}

// GUARD-6, GUARD-7
TEST_P(ApiGuard, AScanCanBeAskedFor) {
  shop_.add_row(7);
  start_guard("    min-interval-seconds: 600\n    scan-interval-seconds: 3600\n");
  mark(7);
  shop_.run("UPDATE user_bill SET status = 'SUCCESS' WHERE id = 7");

  const Reply scan = post("/api/v1/guards/user-bill/scan");

  ASSERT_EQ(scan.status, 200) << scan.body;
  EXPECT_EQ(scan.json().at("healed"), 1);
  EXPECT_EQ(shop_.cell("err_status", 7), "2001");
}

TEST_P(ApiGuard, GuardsAreListedWithTheirFigures) {
  shop_.add_row(7);
  start_guard();
  mark(7);
  ASSERT_TRUE(becomes(7, "2001"));

  ASSERT_TRUE(eventually([this] {
    return get("/api/v1/guards").items().at(0).at("counters").at("healed_by_retry") == 1;
  }));
  const value guard = get("/api/v1/guards").items().at(0);
  EXPECT_EQ(guard.at("name"), "user-bill");
  EXPECT_EQ(guard.at("kind"), "guard.user-bill");
  EXPECT_EQ(guard.at("table"), "user_bill");
  EXPECT_EQ(guard.at("min_interval"), "1s");
  const std::string metrics = get("/metrics").body;
  EXPECT_TRUE(families_in_order(metrics).contains("recourse_guard_scan_seconds_total"));
  EXPECT_THAT(metrics, HasSubstr(R"(recourse_guard_healed_total{guard="user-bill",by="retry"} 1)"));
  EXPECT_THAT(metrics, HasSubstr(R"(recourse_guard_runs_total{guard="user-bill"} 1)"));
}

// One dead database keeps neither the server nor its other guards from their work.
TEST_P(ApiGuard, ADatabaseThatIsDownAtTheStartIsOpenedWhenItIsThere) {
  if (shop_.place().empty()) GTEST_SKIP() << "a file is there or not";
  const std::filesystem::path later = folder_ / "later";
  environment_["LATER"] = shop_.url_by(later);
  shop_.add_row(7);
  shop_.add_table("gift");
  shop_.add_row(8, "FAIL", "gift");
  start_guard_unscanned(
      "",
      "  gift:\n    table: gift\n    status-field: status\n    success-value: SUCCESS\n"
      "    fail-value: FAIL\n    database: env:LATER\n    scan-interval-seconds: 1\n"
      "    min-interval-seconds: 1\n    check: '" +
          service_url("/check") + "'\n    handle: '" + service_url("/handle") + "'\n");
  const auto gift = [this] { return get("/api/v1/guards").items().at(0); };

  ASSERT_TRUE(eventually([&] { return gift().at("ready") == false; }));
  EXPECT_THAT(std::string(gift().at("error").as_string()), HasSubstr("gift is not ready"));
  EXPECT_EQ(get("/readyz").status, 200);
  EXPECT_THAT(get("/readyz?verbose").body, HasSubstr("guard gift: not ready"));
  EXPECT_THAT(get("/readyz?verbose").body, HasSubstr("guard user-bill: ok"));
  EXPECT_EQ(post("/api/v1/guards/gift/rows/8/abnormal", "{}").status, 503);
  mark(7);
  EXPECT_TRUE(becomes(7, "2001")) << "the other works";
  const Reply list = source_call("/api/admin/abnormal/list", "{}");
  EXPECT_EQ(list.status, 200) << list.body;
  EXPECT_EQ(list.json().at("data").at("total"), 1) << "GUARD-15: its rows are listed";
  EXPECT_EQ(source_call("/api/admin/abnormal/list", R"({"serviceName": "gift"})").status, 503);

  std::filesystem::create_symlink(shop_.place(), later);

  ASSERT_TRUE(eventually([&] { return gift().at("ready") == true; }, std::chrono::seconds(30)));
  EXPECT_EQ(post("/api/v1/guards/gift/rows/8/abnormal", "{}").status, 200);
  EXPECT_TRUE(eventually([&] { return shop_.cell("err_status", 8, "gift") == "2001"; }));
}

// Roles as everywhere else; a business table belongs to no tenant.
TEST_P(ApiGuard, WhoMayDoWhatIsAsEverywhereElse) {
  shop_.add_row(7);
  start_guard();

  EXPECT_EQ(get("/api/v1/guards", "VIEWER").status, 200);
  EXPECT_EQ(post(row(7) + "/abnormal", "{}", "VIEWER").status, 403);
  EXPECT_EQ(post(row(7) + "/success", "{}", "VIEWER").status, 403);
  EXPECT_EQ(post(row(7) + "/success", "{}", "MINE").status, 403);
  EXPECT_EQ(get("/api/v1/guards", "FOREIGN").status, 403);
  EXPECT_EQ(get("/api/v1/guards", "").status, 401);
  EXPECT_EQ(shop_.cell("status", 7), "FAIL");
}

// GUARD-13
TEST_P(ApiGuard, APersonsSuccessIsWrittenInOneStep) {
  shop_.add_row(7);
  start_guard("    min-interval-seconds: 600\n");
  mark(7);

  EXPECT_EQ(post(row(7) + "/success", "{}", "OPERATOR").status, 200);

  EXPECT_EQ(shop_.cell("err_status", 7), "2002");
  EXPECT_EQ(shop_.cell("err_submit_manual_status", 7), "4002");
  EXPECT_EQ(shop_.cell("status", 7), "SUCCESS");
  EXPECT_EQ(post(row(99) + "/success", "{}").status, 404);
}

TEST_P(ApiGuard, APersonHasARowTriedOnceMore) {
  shop_.add_row(7);
  mends_ = false;
  start_guard("    max-retry-count: 0\n");
  mark(7);
  ASSERT_TRUE(becomes(7, "4001"));
  const Reply early = post("/api/v1/guards/user-bill/rows/99/retry", "{}");
  mends_ = true;

  shop_.run("UPDATE user_bill SET status = 'CANCELLED' WHERE id = 7");
  const Reply cancelled = post(row(7) + "/retry", "{}");
  EXPECT_EQ(cancelled.status, 409);
  EXPECT_THAT(cancelled.body, HasSubstr("its status is not"));
  shop_.run("UPDATE user_bill SET status = 'FAIL' WHERE id = 7");
  EXPECT_EQ(post(row(7) + "/retry", "{}", "VIEWER").status, 403);
  EXPECT_EQ(post(row(7) + "/retry", "{}", "OPERATOR").status, 200);

  EXPECT_TRUE(becomes(7, "2001"));
  EXPECT_EQ(shop_.cell("err_submit_manual_status", 7), "") << "a new error: nobody was told";
  EXPECT_EQ(early.status, 404) << early.body;
  const Reply late = post(row(7) + "/retry", "{}");
  EXPECT_EQ(late.status, 409);
  EXPECT_THAT(late.body, HasSubstr("it has healed"));
}

// GUARD-4: ids may be texts.
TEST_P(ApiGuard, ARowsKeyMayBeAText) {
  shop_.run("CREATE TABLE parcel (code VARCHAR(40) PRIMARY KEY, state INTEGER)");
  shop_.run("INSERT INTO parcel VALUES ('a/b c', 0)");
  start("  work: {type: worker}\n",
        "guards: {parcel: {table: parcel, id-field: code, status-field: state, success-value: 1, "
        "fail-value: 0, database: env:SHOP, manual-success-route: /parcel/done}}\n");

  EXPECT_EQ(post("/api/v1/guards/parcel/rows/a%2Fb%20c/abnormal", "{}").json().at("id"), "a/b c");
  const Reply done = source_call("/parcel/done?dataId=a/b%20c");

  EXPECT_EQ(done.json().at("data"), "a/b c") << done.body;
  const value row = get("/api/v1/guards/parcel/rows/a%2Fb%20c").json();
  EXPECT_EQ(row.at("business_status"), "1");
  EXPECT_EQ(row.at("err_status"), 2002);
}

// Without `database` the table is in the store's own file, which has one writer.
TEST(GuardOfTheStore, AStuckRowIsMendedThere) {
  const tests::TemporaryDirectory folder;
  const std::string file = (folder.path() / "recourse.db").string();
  auto application = *sql::sqlite::open(file, sql::sqlite::Access::kWrite);
  ASSERT_TRUE(application->run("CREATE TABLE bill (id INTEGER PRIMARY KEY, status TEXT)"));
  ASSERT_TRUE(application->run("INSERT INTO bill VALUES (1, 'FAIL')"));
  application.reset();
  http::TestServer service([](const http::TestServer::Seen&) {
    return http::TestServer::Reply{http::TestServer::answer(200, R"({"success":true})")};
  });
  const Loaded loaded = parse_config(
      {.file = "recourse.yaml",
       .text = "server: {listen: '127.0.0.1:0'}\nstore: {url: 'sqlite:" + file +
               "'}\nguards: {bill: {table: bill, status-field: status, success-value: SUCCESS, "
               "fail-value: FAIL, min-interval-seconds: 1, handle: '" +
               service.url("/") + "'}}\n"});
  ASSERT_TRUE(loaded.config);
  MemoryLog log;
  auto server = RunningServer::start(*loaded.config, {}, log);
  ASSERT_TRUE(server) << server.error().message;
  const auto client = *http::Client::open({});
  const auto body_of = [&](http::Method method, const std::string& path) {
    const http::CallResult result =
        http::fetch(*client, {.method = method, .url = (*server)->url() + path});
    const auto* answer = std::get_if<http::Answer>(&result);
    return answer == nullptr ? std::string() : answer->body;
  };

  EXPECT_THAT(body_of(http::Method::kPost, "/api/v1/guards/bill/rows/1/abnormal"),
              HasSubstr("4000"));

  EXPECT_TRUE(tests::eventually([&] {
    return body_of(http::Method::kGet, "/api/v1/guards/bill/rows/1").find("SUCCESS") !=
           std::string::npos;
  }));
}

INSTANTIATE_TEST_SUITE_P(Shops, ApiGuard, testing::ValuesIn(kShops), store_name);

}  // namespace
}  // namespace recourse::app

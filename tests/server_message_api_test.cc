// The message door over the wire, for consumers whose broker has no adapter (MSG-9), and for
// people.
#include "tests/server_fixture.h"

namespace recourse::app {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::SizeIs;

class ApiMessages : public ApiTest {
 protected:
  void start_door() {
    start(
        "  work: {type: worker}\n  bill: {type: worker, message: true}\n  soon: {type: worker, "
        "message: true, backoff: {base: 1ms, min: 1ms, max: 2ms}}\n");
  }
  static std::string name_of(const std::string& id, const std::string& group = "billing") {
    return R"("source":"rocketmq","group":")" + group + R"(","topic":"orders","message_id":")" +
           id + "\"";
  }
  Reply report(const std::string& id, const std::string& more = "",
               const std::string& who = "ADMIN", const std::string& kind = "bill") {
    return post("/api/v1/messages/record",
                R"({"kind":")" + kind + R"(","error_message":"Connection refused",)" + name_of(id) +
                    more + "}",
                who);
  }
  std::string record(const std::string& id, const std::string& more = "") {
    const Reply reply = report(id, more);
    EXPECT_EQ(reply.status, 201) << reply.body;
    return reply.text("id");
  }
  value show(const std::string& id) { return get("/api/v1/messages/" + id).json(); }
  std::string status_of(const std::string& id) {
    return std::string(show(id).at("status").as_string());
  }
  array list(const std::string& query = "") { return get("/api/v1/messages" + query).items(); }
  value check(const std::string& id, const std::string& group = "billing") {
    return post("/api/v1/messages/check", R"({"messages":[{)" + name_of(id, group) + "}]}")
        .items()
        .at(0);
  }
  // The source's own route.
  std::string number_of(const std::string& id, const std::string& query = "") {
    const Reply reply =
        call_plainly(http::Method::kGet, "/extend/sys/msg/retry/getStatusByMsgId/" + id + query);
    EXPECT_EQ(reply.status, 200) << reply.body;
    return reply.body;
  }
  std::string mark_processed(const std::string& id, const std::string& query = "") {
    return call_plainly(http::Method::kPost,
                        "/extend/sys/msg/retry/markAsProcessedByMsgId/" + id + query)
        .body;
  }
  // As a worker: leases the next one of the kind `soon`, and reports.
  void work_off(const std::string& how) {
    ASSERT_TRUE(eventually([&] {
      const Reply leased = post("/api/v1/leases", R"({"worker":"w","kinds":["soon"]})");
      if (leased.items().empty()) return false;
      const std::string ticket = ticket_of(leased.items().front().as_object());
      const std::string reason = how == "fail" ? R"(,"reason":"connection lost")" : "";
      return post("/api/v1/leases/" + how, R"({"ticket":")" + ticket + "\"" + reason + "}")
                 .status == 200;
    }));
  }
  [[nodiscard]] bool logged(const std::string& event, const std::string& text = "") {
    return std::ranges::any_of(log_.lines(), [&](const std::string& line) {
      return line.find(event) != std::string::npos && line.find(text) != std::string::npos;
    });
  }
};

// MSG-2, MSG-5, MSG-6
TEST_P(ApiMessages, AReportedFailureIsARecordWithItsFirstAttemptBehindIt) {
  start_door();
  const std::string id = record(
      "m-1",
      R"(,"body":"{\"order\": 7}","tags":"vip","business_id":"order-7","exception_type":"java.net.ConnectException","error_code":"CONN","stack_trace":"at Shop.pay\n at Main","consumer_ip":"10.0.0.7","custom_data":{"amount":100.00},"headers":{"trace":"t"})");

  const value shown = show(id);
  EXPECT_EQ(shown.at("status"), "RETRYING");
  EXPECT_EQ(shown.at("status_number"), 0);
  EXPECT_EQ(shown.at("message_id"), "m-1");
  EXPECT_EQ(shown.at("source"), "rocketmq");
  EXPECT_EQ(shown.at("group"), "billing");
  EXPECT_EQ(shown.at("topic"), "orders");
  EXPECT_EQ(shown.at("tags"), "vip");
  EXPECT_EQ(shown.at("business_id"), "order-7");
  EXPECT_EQ(shown.at("body"), "{\"order\": 7}");
  EXPECT_EQ(shown.at("headers").at("trace"), "t");
  EXPECT_EQ(shown.at("error"), "Connection refused");
  EXPECT_EQ(shown.at("error_code"), "CONN");
  EXPECT_EQ(shown.at("retries_left"), 5);
  EXPECT_EQ(shown.at("max_retries"), 5);
  EXPECT_FALSE(shown.at("next_retry_at").is_null());
  const array history = get("/api/v1/messages/" + id + "/history").items();
  ASSERT_THAT(history, SizeIs(1));
  EXPECT_EQ(history[0].at("attempt"), 1);
  EXPECT_EQ(history[0].at("result"), "FAILED");
  EXPECT_EQ(history[0].at("retry_delay"), 1000) << "MSG-6";
  EXPECT_EQ(history[0].at("exception_type"), "java.net.ConnectException");
  EXPECT_EQ(history[0].at("stack_trace"), "at Shop.pay\n at Main");
  EXPECT_EQ(history[0].at("consumer_ip"), "10.0.0.7");
  EXPECT_EQ(history[0].at("custom_data").at("amount").to_number<double>(), 100.0);
  EXPECT_TRUE(logged("message_consume_failed", "m-1")) << "MSG-13";
}

// I12
TEST_P(ApiMessages, ReportedAgainItIsTheSameRecord) {
  start_door();
  const std::string id = record("m-1");

  const Reply again = report("m-1", R"(,"retryable":false)");

  EXPECT_EQ(again.status, 200);
  EXPECT_EQ(again.text("id"), id);
  EXPECT_EQ(again.text("status"), "RETRYING");
  EXPECT_EQ(again.json().at("created"), false);
  EXPECT_THAT(list(), SizeIs(1));
  EXPECT_THAT(get("/api/v1/messages/" + id + "/history").items(), SizeIs(1));
}

// MSG-4
TEST_P(ApiMessages, WhatCannotBeRetriedIsForAPersonAtOnce) {
  start_door();
  const Reply told = report("m-1", R"(,"retryable":false)");
  EXPECT_EQ(told.status, 201);
  EXPECT_EQ(told.text("status"), "PENDING");
  const Reply business = report("m-2", R"(,"exception_type":"com.shop.BusinessException")");
  EXPECT_EQ(business.text("status"), "PENDING");
  EXPECT_EQ(number_of("m-1"), "1");
  EXPECT_TRUE(logged("message_gave_up"));
  EXPECT_THAT(get("/api/v1/cases").items(), SizeIs(2)) << "people are told";
}

TEST_P(ApiMessages, ChecksWhatWasSeenInTheOrderGiven) {
  start_door();
  (void)record("failed");
  EXPECT_EQ(post("/api/v1/messages/done", "{" + name_of("done") + "}").text("status"), "PROCESSED");

  const array items =
      post("/api/v1/messages/check", R"({"messages":[{)" + name_of("new") + "},{" +
                                         name_of("done") + "},{" + name_of("failed") + "}]}")
          .items();

  ASSERT_THAT(items, SizeIs(3));
  EXPECT_EQ(items[0].at("seen"), false);
  EXPECT_TRUE(items[0].at("status").is_null());
  EXPECT_EQ(items[1].at("seen"), true);
  EXPECT_TRUE(items[1].at("id").is_null());
  EXPECT_EQ(items[1].at("status"), "PROCESSED");
  EXPECT_EQ(items[2].at("status"), "RETRYING");
  EXPECT_EQ(check("done", "shipping").at("seen"), false) << "another group has its own";
}

TEST_P(ApiMessages, DoneEndsARecordThatIsUnderWay) {
  start_door();
  const std::string id = record("m-1");

  const Reply done = post("/api/v1/messages/done", "{" + name_of("m-1") + "}");

  EXPECT_EQ(done.text("id"), id);
  EXPECT_EQ(done.text("status"), "PROCESSED");
  EXPECT_EQ(done.json().at("created"), false);
  EXPECT_EQ(status_of(id), "PROCESSED");
}

// MSG-3, MSG-8
TEST_P(ApiMessages, RetriesUsedUpItIsAPersonsToDecide) {
  start_door();
  const std::string id = report("m-1", "", "ADMIN", "soon").text("id");
  for (int i = 0; i < 5; ++i) {
    EXPECT_EQ(status_of(id), "RETRYING");
    work_off("fail");
  }
  EXPECT_EQ(status_of(id), "PENDING");
  EXPECT_EQ(show(id).at("retries_left"), 0);
  EXPECT_THAT(get("/api/v1/messages/" + id + "/history").items(), SizeIs(6));
  EXPECT_EQ(number_of("m-1"), "1");

  EXPECT_EQ(post("/api/v1/messages/" + id + "/retry", R"({"reason":"back"})").text("effect"),
            "done");
  EXPECT_EQ(show(id).at("retries_left"), 5);
  work_off("complete");
  EXPECT_EQ(status_of(id), "PROCESSED");
  EXPECT_EQ(number_of("m-1"), "2");
  const Reply refused = post("/api/v1/messages/" + id + "/retry");
  EXPECT_EQ(refused.status, 409);
  EXPECT_THAT(refused.text("detail"), HasSubstr("PROCESSED (succeeded)"));
  EXPECT_EQ(post("/api/v1/messages/" + id + "/ignore").status, 409);
}

// MSG-9
TEST_P(ApiMessages, TheSourcesOwnRoutesAnswerInTheirOwnWords) {
  start_door();
  EXPECT_EQ(number_of("nobody"), "");
  EXPECT_EQ(mark_processed("nobody"), "false");
  (void)record("m-1");
  // Another group's needs a person: that is the one that is told.
  EXPECT_EQ(
      post("/api/v1/messages/record", R"({"kind":"bill","error_message":"x","retryable":false,)" +
                                          name_of("m-1", "shipping") + "}")
          .status,
      201);
  EXPECT_EQ(number_of("m-1"), "1");
  EXPECT_EQ(number_of("m-1", "?group=billing"), "0");
  EXPECT_EQ(number_of("m-1", "?group=nobody"), "");

  EXPECT_EQ(mark_processed("m-1"), "true");

  EXPECT_EQ(number_of("m-1", "?group=shipping"), "2");
  EXPECT_EQ(number_of("m-1"), "0") << "the other group's is left";
  EXPECT_EQ(mark_processed("m-1", "?group=billing"), "true");
  EXPECT_EQ(mark_processed("m-1"), "true") << "it is";
  const std::string id = record("m-2");
  EXPECT_EQ(post("/api/v1/messages/" + id + "/ignore").status, 200);
  EXPECT_EQ(number_of("m-2"), "3");
  EXPECT_EQ(mark_processed("m-2"), "false");
  const Reply nobody =
      call_plainly(http::Method::kGet, "/extend/sys/msg/retry/getStatusByMsgId/m-1", "", "");
  EXPECT_EQ(nobody.status, 401);
  EXPECT_EQ(nobody.json().at("code"), 401);
}

TEST_P(ApiMessages, FindsThemByWhatPeopleKnow) {
  start_door();
  const std::string one = record("m-1", R"(,"business_id":"o-1")");
  const std::string two = record("m-2", R"(,"business_id":"o-2","retryable":false)");
  submit(R"({"kind":"bill","payload":1,"search_keys":{"topic":"orders"}})");

  EXPECT_THAT(list(), SizeIs(2)) << "a task that somebody submitted is no message";
  EXPECT_EQ(list("?message_id=m-1").at(0).at("id").as_string(), one);
  EXPECT_EQ(list("?business_id=o-2&topic=orders").at(0).at("id").as_string(), two);
  EXPECT_THAT(list("?status=PENDING"), SizeIs(1));
  EXPECT_THAT(list("?status=1"), SizeIs(1));
  EXPECT_THAT(list("?group=billing&source=rocketmq&kind=bill"), SizeIs(2));
  EXPECT_THAT(list("?group=shipping"), SizeIs(0));
  EXPECT_THAT(list("?from=2999-01-01T00:00:00Z"), SizeIs(0));
  EXPECT_THAT(list("?before=2999-01-01T00:00:00Z"), SizeIs(2));
  const Reply page = get("/api/v1/messages?limit=1");
  EXPECT_EQ(page.items().at(0).at("id").as_string(), two);
  EXPECT_FALSE(page.items().at(0).as_object().contains("body")) << "not in a list";
  EXPECT_EQ(list("?limit=1&cursor=" + page.text("next_cursor")).at(0).at("id").as_string(), one);
}

TEST_P(ApiMessages, ManyAreSteeredByWhatTheyHaveInCommon) {
  start_door();
  std::vector<std::string> ids;
  for (int i = 0; i < 3; ++i)
    ids.push_back(record("m-" + std::to_string(i), R"(,"retryable":false)"));
  const auto order = [&](const std::string& what, const std::string& body) {
    return post("/api/v1/messages/" + what, body);
  };
  EXPECT_EQ(order("retry", R"({"topic":"orders","dry_run":true})").json().at("count"), 3);
  EXPECT_EQ(order("ignore", R"({"group":"shipping","dry_run":true})").json().at("count"), 0);
  EXPECT_EQ(order("retry", R"({"topic":"orders","group":"billing"})").status, 422);
  EXPECT_EQ(order("retry", R"({"status":"PROCESSED"})").status, 422);

  const Reply job = order("processed", R"({"message_id":"m-0","reason":"by hand"})");
  EXPECT_EQ(job.status, 202) << job.body;
  ASSERT_TRUE(eventually([&] { return status_of(ids[0]) == "PROCESSED"; }));
  EXPECT_EQ(order("ignore", R"({"message_id":"m-1"})").status, 202);
  ASSERT_TRUE(eventually([&] { return status_of(ids[1]) == "IGNORED"; }));
  EXPECT_EQ(order("retry", R"({"kind":"bill"})").status, 202);
  ASSERT_TRUE(eventually([&] { return status_of(ids[2]) == "RETRYING"; }));
  EXPECT_EQ(order("ignore", R"({"status":"RETRYING","source":"rocketmq"})").status, 202);
  ASSERT_TRUE(eventually([&] { return status_of(ids[2]) == "IGNORED"; }));
}

// MSG-10, MSG-11
TEST_P(ApiMessages, TheyAreSummedUpAndCleanedUp) {
  start_door();
  const std::string retrying = record("m-1");
  const std::string pending = record("m-2", R"(,"retryable":false)");
  const std::string processed = record("m-3");
  EXPECT_EQ(post("/api/v1/messages/" + processed + "/processed").status, 200);

  const value summary = get("/api/v1/messages/summary").json();
  EXPECT_EQ(summary.at("counts").at("RETRYING"), 1);
  EXPECT_EQ(summary.at("counts").at("PENDING"), 1);
  EXPECT_EQ(summary.at("counts").at("PROCESSED"), 1);
  EXPECT_EQ(summary.at("success_rate").to_number<double>(), 0.5);
  EXPECT_THAT(summary.at("newest_pending").as_array(), SizeIs(1));
  EXPECT_THAT(get("/metrics").body, AllOf(HasSubstr("recourse_messages{status=\"PENDING\"} 1"),
                                          HasSubstr("recourse_messages{status=\"RETRYING\"} 1")));
  EXPECT_EQ(post("/api/v1/messages/clean").json().at("deleted"), 0) << "none is 30 days old";
  // By the store's time, as far as it is known here: that may be a moment behind.
  EXPECT_TRUE(eventually([&] {
    return post("/api/v1/messages/clean", R"({"processed_older_than":"0s"})")
               .json()
               .at("deleted") == 1;
  }));
  EXPECT_EQ(get("/api/v1/messages/" + processed).status, 404);
  EXPECT_EQ(status_of(pending), "PENDING");
  EXPECT_EQ(status_of(retrying), "RETRYING");
  EXPECT_EQ(check("m-3").at("seen"), true) << "that it was dealt with is still known";
}

TEST_P(ApiMessages, BadInputIsRefusedWithAPointer) {
  start_door();
  const auto refused = [&](const std::string& path, const std::string& body,
                           const std::string& what) {
    const Reply reply = post("/api/v1/messages/" + path, body);
    EXPECT_EQ(reply.status, 422) << reply.body;
    EXPECT_THAT(reply.body, HasSubstr(what));
  };
  const std::string begin = R"({"kind":"bill","error_message":"x",)";
  refused("record", begin + R"("group":"g","topic":"t","message_id":""})", "/message_id");
  refused("record", begin + R"("topic":"t","message_id":"1"})", "/group");
  refused("record", begin + R"("group":"g","topic":"t","message_id":"a\nb"})", "/message_id");
  refused("record", R"({"kind":"work","error_message":"x",)" + name_of("1") + "}",
          "must be a message kind of this server: bill, soon");
  refused("record", R"({"kind":"bill",)" + name_of("1") + "}", "/error_message");
  refused("record", begin + name_of("1") + R"(,"custom_data":[1]})", "/custom_data");
  refused("record", begin + name_of("1") + R"(,"body_base64":"?"})", "/body_base64");
  refused("record", begin + name_of("1") + R"(,"retriable":true})", "/retriable");
  refused("record", begin + name_of("1") + R"(,"body":")" + std::string(300 * 1024, 'x') + "\"}",
          "/body has 307200 bytes; at most 262144");
  refused("check", R"({"messages":[]})", "/messages");
  refused("check", R"({"messages":[{"group":"g","topic":"t","message_id":""}]})",
          "/messages/0/message_id");
  refused("check", R"({"messages":[7]})", "/messages/0");
  refused("done", R"({"group":"g","topic":"t"})", "/message_id");
  refused("retry", R"({"status":"4"})", "must be RETRYING, PENDING, PROCESSED or IGNORED");
  EXPECT_EQ(get("/api/v1/messages?status=4").status, 422);
  EXPECT_EQ(get("/api/v1/messages?kind=work").status, 422);
  EXPECT_EQ(get("/api/v1/messages?color=red").status, 422);
  EXPECT_EQ(get("/api/v1/messages/" + submit(R"({"kind":"bill","payload":1})")).status, 404);
  EXPECT_EQ(post("/api/v1/messages/record", std::string(2U << 20U, 'x')).status, 413);
  EXPECT_THAT(list(), SizeIs(0));
}

TEST_P(ApiMessages, TenantsKnowNothingOfEachOther) {
  start_door();
  const Reply mine = report("m-1", "", "MINE");
  ASSERT_EQ(mine.status, 201) << mine.body;
  const Reply other = report("m-1", "", "FOREIGN");
  EXPECT_EQ(other.status, 201) << "the same id under another tenant is another message";
  EXPECT_NE(other.text("id"), mine.text("id"));
  EXPECT_EQ(get("/api/v1/messages/" + mine.text("id"), "FOREIGN").status, 404);
  EXPECT_THAT(get("/api/v1/messages", "FOREIGN").items(), SizeIs(1));
  EXPECT_EQ(post("/api/v1/messages/" + mine.text("id") + "/ignore", "", "FOREIGN").status, 404);
  EXPECT_EQ(call_plainly(http::Method::kPost, "/extend/sys/msg/retry/markAsProcessedByMsgId/m-1",
                         "", "FOREIGN")
                .body,
            "true");
  EXPECT_EQ(status_of(mine.text("id")), "RETRYING");
  EXPECT_TRUE(get("/api/v1/messages/summary", "MINE").json().at("counts").is_null());
  EXPECT_EQ(get("/api/v1/messages/sources", "MINE").status, 403);
}

INSTANTIATE_TEST_SUITE_P(Stores, ApiMessages, testing::ValuesIn(kStores), store_name);

}  // namespace
}  // namespace recourse::app

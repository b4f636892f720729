// Idempotency keys for other services, over the wire.
#include "tests/server_fixture.h"

namespace recourse::app {
namespace {

using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

class ApiCreates : public ApiTest {
 protected:
  void SetUp() override { start(); }

  Reply acquire(const std::string& more = "", const std::string& who = "OPERATOR",
                const std::string& request = R"({"amount": 7})") {
    return post("/api/v1/creates/acquire",
                R"({"tenant":7,"business_type":"ORDER_CREATE","resource_type":"ord","key":"k-1",)"
                R"("request":)" +
                    request + more + "}",
                who);
  }
  Reply end(const std::string& how, std::int64_t fence, const std::string& more = "") {
    return post("/api/v1/creates/" + how,
                R"({"tenant":7,"business_type":"ORDER_CREATE","key":"k-1","fence":)" +
                    std::to_string(fence) + more + "}",
                "OPERATOR");
  }
  static std::int64_t fence_of(const Reply& reply) {
    return reply.json().at("fence").to_number<std::int64_t>();
  }
  static constexpr const char* kShown =
      "/api/v1/creates?tenant=7&business_type=ORDER_CREATE&key=k-1";
};

// IDEM-2, IDEM-4, IDEM-5
TEST_P(ApiCreates, AKeyIsTakenCompletedAndReplayed) {
  const Reply first = acquire();
  ASSERT_EQ(first.status, 201) << first.body;
  EXPECT_THAT(first.text("public_id"), StartsWith("ord_"));
  EXPECT_THAT(first.body, Not(HasSubstr("internal"))) << "the internal id stays inside";
  const Reply busy = acquire();
  EXPECT_EQ(busy.status, 409) << busy.body;
  EXPECT_TRUE(busy.headers.find("Retry-After"));
  EXPECT_EQ(get(kShown).text("state"), "processing");

  EXPECT_EQ(end("complete", fence_of(first), R"(,"value":{"total":20})").status, 200);
  EXPECT_EQ(end("complete", fence_of(first), R"(,"value":{"total":20})").status, 200)
      << "repeating it is harmless";
  const Reply again = acquire();
  EXPECT_EQ(again.status, 200) << again.body;
  EXPECT_TRUE(again.json().at("replayed").as_bool());
  EXPECT_EQ(again.text("public_id"), first.text("public_id"));
  EXPECT_EQ(again.json().at("value").at("total").to_number<int>(), 20);
  EXPECT_EQ(acquire("", "OPERATOR", R"({ "amount" : 7.0 })").status, 200) << "the same request";
  const Reply other = acquire("", "OPERATOR", R"({"amount": 8})");
  EXPECT_EQ(other.status, 422) << other.body;
  EXPECT_THAT(other.body, HasSubstr("take a new key"));
}

// IDEM-7
TEST_P(ApiCreates, AFailedKeyIsTriedAgainAtOnceUnderTheSameId) {
  const Reply first = acquire();
  EXPECT_EQ(end("fail", fence_of(first), R"(,"error":"out of stock")").status, 200);
  EXPECT_EQ(get(kShown).text("error"), "out of stock");
  const Reply second = acquire();
  ASSERT_EQ(second.status, 201) << second.body;
  EXPECT_EQ(second.text("public_id"), first.text("public_id"));
  EXPECT_EQ(second.text("error"), "") << "that was the holder before";
  const Reply late = end("complete", fence_of(first));
  EXPECT_EQ(late.status, 409) << late.body;
  EXPECT_THAT(late.text("detail"), HasSubstr("somebody else has had the key since"));
  EXPECT_EQ(end("complete", fence_of(second)).status, 200);
}

TEST_P(ApiCreates, WhoCannotEndAHoldIsToldWhy) {
  const Reply never = end("complete", 1);
  EXPECT_EQ(never.status, 404) << never.body;
  EXPECT_THAT(never.text("detail"), HasSubstr("never acquired"));
  EXPECT_EQ(end("fail", 1).status, 404);

  const std::int64_t fence = fence_of(acquire());
  const Reply wrong = end("complete", fence + 1);
  EXPECT_EQ(wrong.status, 409) << wrong.body;
  EXPECT_THAT(wrong.text("detail"), HasSubstr("the one that acquire answered"));

  ASSERT_EQ(end("complete", fence).status, 200);
  const Reply failed = end("fail", fence);
  EXPECT_EQ(failed.status, 409) << failed.body;
  EXPECT_THAT(failed.text("detail"), HasSubstr("was completed before"));
}

TEST_P(ApiCreates, ATenantMayBeWrittenAsAnswersHaveIt) {
  const std::string rest = R"(,"business_type":"B","resource_type":"ord","key":"k","request":{}})";
  const Reply taken = post("/api/v1/creates/acquire", R"({"tenant":"7")" + rest, "OPERATOR");
  EXPECT_EQ(taken.status, 201) << taken.body;
  EXPECT_EQ(post("/api/v1/creates/acquire", R"({"tenant":7)" + rest, "OPERATOR").status, 409);
  for (const char* bad : {"\"\"", "\"07\"", "\"shop\"", "\"-1\"", "null", "1.5"}) {
    const Reply refused =
        post("/api/v1/creates/acquire", std::string(R"({"tenant":)") + bad + rest, "OPERATOR");
    EXPECT_EQ(refused.status, 422) << bad << refused.body;
  }
  EXPECT_EQ(get("/api/v1/creates?tenant=0&business_type=B&key=k").status, 422);
  EXPECT_EQ(get("/api/v1/creates?tenant=7&business_type=B&key=k%01").status, 422);
}

// IDEM-8
TEST_P(ApiCreates, WhoDoesNotAnswerIsSucceeded) {
  const Reply gone = acquire(R"(,"lock_ttl":"200ms")");
  ASSERT_EQ(gone.status, 201) << gone.body;
  Reply next;
  EXPECT_TRUE(eventually([&] {
    next = acquire();
    return next.status == 201;
  }));
  EXPECT_EQ(next.text("public_id"), gone.text("public_id"));
  EXPECT_GT(fence_of(next), fence_of(gone));
}

// IDEM-6
TEST_P(ApiCreates, ALongValueIsNotReplayed) {
  const Reply first = acquire();
  const std::string big = R"(,"value":")" + std::string(5'000, 'v') + "\"";
  EXPECT_EQ(end("complete", fence_of(first), big).status, 200);
  const Reply again = acquire();
  EXPECT_TRUE(again.json().at("value").is_null());
  EXPECT_TRUE(again.json().at("value_cut").as_bool());
}

// IDEM-1
TEST_P(ApiCreates, BadInputIsRefusedByFieldAndNothingIsWritten) {
  const auto refused = [&](const std::string& body, const std::string& field) {
    const Reply reply = post("/api/v1/creates/acquire", body, "OPERATOR");
    EXPECT_EQ(reply.status, 422) << reply.body;
    EXPECT_THAT(reply.body, HasSubstr("\"pointer\":\"/" + field + "\"")) << body;
  };
  const std::string rest = R"("business_type":"B","resource_type":"ord","key":"k","request":{})";
  refused(R"({"tenant":0,)" + rest + "}", "tenant");
  refused("{" + rest + "}", "tenant");
  refused(R"({"tenant":1,"business_type":"B","resource_type":"Ord!","key":"k","request":{}})",
          "resource_type");
  refused(R"({"tenant":1,"business_type":"B","resource_type":"ord","key":"","request":{}})", "key");
  refused(R"({"tenant":1,"business_type":"B","resource_type":"ord","key":")" +
              std::string(256, 'k') + R"(","request":{}})",
          "key");
  refused(R"({"tenant":1,"business_type":"B","resource_type":"ord","key":"k","request_hash":")" +
              std::string(63, 'a') + "\"}",
          "request_hash");
  refused(R"({"tenant":1,"business_type":"B","resource_type":"ord","key":"k"})", "request_hash");
  refused(R"({"tenant":1,)" + rest + R"(,"ttl":"-1s"})", "ttl");
  refused(R"({"tenant":1,)" + rest + R"(,"lock_ttl":"0s"})", "lock_ttl");
  refused(R"({"tenant":1,"business_type":"B","resource_type":"ord","key":"a\u0000b","request":{}})",
          "key");
  const auto detail = [&](const std::string& more) {
    return post("/api/v1/creates/acquire",
                R"({"tenant":1,"business_type":"B","resource_type":"ord","key":"k",)" + more + "}",
                "OPERATOR")
        .text("detail");
  };
  for (const char* ttl : {"\"-1s\"", "\"0s\"", "\"367d\"", "-1"}) {
    EXPECT_THAT(detail(std::string(R"("request":{},"ttl":)") + ttl), HasSubstr("from 1s up to"))
        << ttl;
  }
  EXPECT_THAT(detail(R"("request_hash":")" + std::string(63, 'a') + "g\""),
              HasSubstr("character 64 is"));
  EXPECT_THAT(detail(R"("request":1,"request_hash":"a")"), HasSubstr("beside `request`"));
  const Reply all = post("/api/v1/creates/acquire",
                         R"({"tenant":0,"business_type":"B","resource_type":"Ord!","key":")" +
                             std::string(256, 'k') + R"(","request_hash":"a","ttl":"0s"})",
                         "OPERATOR");
  for (const char* field : {"/tenant", "/resource_type", "/key", "/request_hash", "/ttl"}) {
    EXPECT_THAT(all.body, HasSubstr(std::string("\"pointer\":\"") + field + "\""));
  }
  EXPECT_EQ(get("/api/v1/creates?tenant=1&business_type=B&key=k").status, 404);
  EXPECT_EQ(get("/api/v1/creates?tenant=1&key=k").status, 422);
}

class ApiCreatesOff : public ApiTest {};

TEST_P(ApiCreatesOff, SaysSoBeforeItLooksAtARequest) {
  start("  work: {type: worker}\n", "create: {enabled: false}\n");

  for (const char* what : {"acquire", "complete", "fail"}) {
    EXPECT_EQ(post(std::string("/api/v1/creates/") + what, "{}", "OPERATOR").status, 403) << what;
  }
}

INSTANTIATE_TEST_SUITE_P(Stores, ApiCreatesOff, testing::ValuesIn(kStores), store_name);
INSTANTIATE_TEST_SUITE_P(Stores, ApiCreates, testing::ValuesIn(kStores), store_name);

}  // namespace
}  // namespace recourse::app

// Submitting, looking and steering, over the wire.
#include <set>

#include "http/test_server.h"
#include "tests/server_fixture.h"

namespace recourse::app {
namespace {

using http::Method;
using testing::HasSubstr;
using testing::SizeIs;

class ApiTasks : public ApiTest {
 protected:
  Reply submit_under(const std::string& key, const std::string& body) {
    return post("/api/v1/tasks", body, "OPERATOR", {{"Idempotency-Key", key}});
  }
  std::size_t tasks() { return get("/api/v1/tasks?limit=500").items().size(); }
};

TEST_P(ApiTasks, KeepsAPayloadByteByByte) {
  start();
  const std::string payload = R"({ "n" : 12345678901234567890.100 ,"e":1E+2, "s":"\u00e4}" })";
  const std::string id = submit(R"({"kind":"nobody","payload":)" + payload + "}");
  EXPECT_EQ(get("/api/v1/tasks/" + id).text("payload"), payload);
  // However the name is written.
  const std::string escaped = submit(R"({"kind":"nobody","p\u0061yload":[1.0]})");
  EXPECT_EQ(get("/api/v1/tasks/" + escaped).text("payload"), "[1.0]");
  const std::string bytes = submit(R"({"kind":"nobody","payload_base64":"AP8Q"})");
  EXPECT_EQ(get("/api/v1/tasks/" + bytes).text("payload_base64"), "AP8Q");
  const object listed = get("/api/v1/tasks").items().front().as_object();
  EXPECT_FALSE(listed.contains("payload") || listed.contains("payload_base64"));
}

TEST_P(ApiTasks, SaysWhereASubmitIsWrong) {
  start();
  const std::pair<const char*, const char*> wrong[] = {
      {R"({})", "/kind"},
      {R"({"kind":7})", "/kind"},
      {R"({"kind":"k","colour":1})", "/colour"},
      {R"({"kind":"k","priority":11})", "/priority"},
      {R"({"kind":"k","delay":"soon"})", "/delay"},
      {R"({"kind":"k","deadline":"tomorrow"})", "/deadline"},
      {R"({"kind":"k","id":"tsk_1"})", "/id"},
      {R"({"kind":"k","backoff":"never heard of"})", "/backoff"},
      {R"({"kind":"k","payload":1,"payload_base64":"AA=="})", "/payload_base64"},
      {R"({"kind":"k","payload_base64":"A"})", "/payload_base64"},
      {R"({"kind":"k","headers":{"a/b":1}})", "/headers/a~1b"},
  };
  for (const auto& [body, pointer] : wrong) {
    const Reply reply = post("/api/v1/tasks", body);
    ASSERT_EQ(reply.status, 422) << body;
    EXPECT_EQ(reply.json().at("errors").at(0).at("pointer").as_string(), pointer) << body;
  }
  EXPECT_EQ(post("/api/v1/tasks", "{").status, 400);
  EXPECT_EQ(post("/api/v1/tasks", "[]").status, 400);
  EXPECT_EQ(post("/api/v1/tasks", R"({"kind":"k"} x)").status, 400);
  EXPECT_EQ(post("/api/v1/tasks",
                 R"({"kind":"k","payload":)" + std::string(40, '[') + std::string(40, ']') + "}")
                .status,
            400);
  EXPECT_EQ(post("/api/v1/tasks", R"({"kind":"k","payload":")" + std::string(300'000, 'x') + "\"}")
                .status,
            422);
  EXPECT_EQ(post("/api/v1/tasks", std::string(1'100'000, 'x')).status, 413);
  EXPECT_EQ(post("/api/v1/tasks", std::string(3'000'000, 'x')).status, 413);
  EXPECT_EQ(get("/api/v1/tasks/tsk_1").status, 422);
  EXPECT_EQ(get("/api/v1/tasks/tsk_01JCVX2M8Q6E4ZK9T3W5R7YBND").status, 404);
  EXPECT_EQ(tasks(), 0U);
}

TEST_P(ApiTasks, TakesManyAtOnceAndAnswersEachInItsPlace) {
  start();
  const Reply reply = post("/api/v1/tasks/batch",
                           R"({"tasks":[{"kind":"a","payload":1},{"kind":"b","payload":2.50},)"
                           R"({"kind":"a","unique_key":"u"},{"kind":"a","unique_key":"u"}]})");
  ASSERT_EQ(reply.status, 200) << reply.body;
  const array items = reply.items();
  ASSERT_THAT(items, SizeIs(4));
  EXPECT_EQ(get("/api/v1/tasks/" + std::string(items[1].at("id").as_string())).text("payload"),
            "2.50");
  EXPECT_EQ(items[2].at("id"), items[3].at("id"));
  EXPECT_NE(items[2].at("created"), items[3].at("created"));
  EXPECT_EQ(tasks(), 3U);
  const Reply wrong =
      post("/api/v1/tasks/batch", R"({"tasks":[{"kind":"a"},{"kind":"a","x":1},5]})");
  ASSERT_EQ(wrong.status, 422);
  EXPECT_EQ(wrong.json().at("errors").at(0).at("pointer").as_string(), "/tasks/1/x");
  EXPECT_EQ(wrong.json().at("errors").at(1).at("pointer").as_string(), "/tasks/2");
  // A name may be written with escapes; a batch that is none must not bring us down.
  EXPECT_EQ(post("/api/v1/tasks/batch", R"({"t\u0061sks":[{"kind":"a"}]})").status, 200);
  EXPECT_EQ(post("/api/v1/tasks/batch", R"({"tasks":[],"t\u0061sks":[{"kind":"a"}]})").status, 200);
  EXPECT_EQ(post("/api/v1/tasks/batch", "{}").status, 422);
  EXPECT_EQ(
      post("/api/v1/tasks/batch", R"({"tasks":[]})", "ADMIN", {{"Idempotency-Key", "k"}}).status,
      422);
  EXPECT_EQ(tasks(), 5U);
}

TEST_P(ApiTasks, ReplaysUnderAnIdempotencyKey) {
  start();
  const std::string body = R"({"kind":"a","payload":1})";
  const Reply first = submit_under("\"k-1\"", body);
  ASSERT_EQ(first.status, 201) << first.body;
  EXPECT_FALSE(first.headers.find("Idempotent-Replayed"));
  const Reply again = submit_under("k-1", body);
  EXPECT_EQ(again.status, 201);
  EXPECT_EQ(again.body, first.body);
  EXPECT_TRUE(again.headers.find("Idempotent-Replayed"));
  EXPECT_EQ(submit_under("k-1", R"({"kind":"a","payload":2})").status, 422);
  EXPECT_EQ(submit_under(std::string(256, 'k'), body).status, 422);
  // One tenant's keys are not another's.
  EXPECT_NE(post("/api/v1/tasks", body, "MINE", {{"Idempotency-Key", "k-1"}}).text("id"),
            first.text("id"));
  EXPECT_EQ(tasks(), 2U);
}

// IDEM-5, IDEM-9
TEST_P(ApiTasks, ManyAtOnceUnderOneKeyMakeOneTask) {
  start();
  std::vector<std::thread> callers;
  Mutex mutex;
  std::multiset<std::string> ids;
  for (int i = 0; i < 8; ++i) {
    callers.emplace_back([&] {
      Reply reply;
      // Who comes while the first is being answered is asked to come back.
      EXPECT_TRUE(eventually([&] {
        reply = submit_under("same", R"({"kind":"a","payload":1})");
        return reply.status != 409;
      }));
      MutexLock lock(mutex);
      ids.insert(reply.text("id"));
    });
  }
  for (std::thread& caller : callers) caller.join();
  EXPECT_EQ(ids.size(), 8U);
  EXPECT_EQ(std::set(ids.begin(), ids.end()).size(), 1U);
  EXPECT_EQ(tasks(), 1U);
}

TEST_P(ApiTasks, ReplaysTheTaskThatHadTheUniqueKeyEvenWhenThatHasEnded) {
  start();
  const std::string holder = submit(R"({"kind":"a","unique_key":"u"})");
  const std::string body = R"({"kind":"a","unique_key":"u","payload":2})";
  const Reply taken = submit_under("k", body);
  EXPECT_EQ(taken.status, 200) << taken.body;
  EXPECT_EQ(taken.text("id"), holder);
  EXPECT_EQ(taken.text("reason"), "unique_key");
  ASSERT_EQ(post("/api/v1/tasks/" + holder + "/cancel").status, 200);
  const Reply again = submit_under("k", body);
  EXPECT_EQ(again.status, 200);
  EXPECT_EQ(again.body, taken.body);
  EXPECT_TRUE(again.headers.find("Idempotent-Replayed"));
  EXPECT_EQ(tasks(), 1U);
}

TEST_P(ApiTasks, FindsByEveryFilterAndPagesToTheEnd) {
  start();
  std::set<std::string> all;
  for (int i = 0; i < 23; ++i) {
    all.insert(submit(R"({"kind":"page","tenant":")" + std::string(i % 2 == 0 ? "a" : "b") +
                      R"(","search_keys":{"order":"o-)" + std::to_string(i) + "\"}}"));
  }
  (void)submit(R"({"kind":"else","unique_key":"u-1"})");
  std::set<std::string> seen;
  std::string cursor;
  int pages = 0;
  do {
    const Reply page = get("/api/v1/tasks?kind=page&limit=5" + cursor);
    ASSERT_EQ(page.status, 200) << page.body;
    for (const value& item : page.items()) {
      EXPECT_TRUE(seen.emplace(item.at("id").as_string()).second);
    }
    const value next = page.json().at("next_cursor");
    cursor = next.is_null() ? "" : "&cursor=" + std::string(next.as_string());
    ++pages;
  } while (!cursor.empty() && pages < 20);
  EXPECT_EQ(seen, all);
  const auto found = [&](const std::string& query) {
    return get("/api/v1/tasks?" + query).items().size();
  };
  EXPECT_EQ(found("key.order=o-7"), 1U);
  EXPECT_EQ(found("unique_key=u-1&kind=else"), 1U);
  EXPECT_EQ(found("tenant=b&kind=page"), 11U);
  EXPECT_EQ(found("kind=page&kind=else"), 24U);
  EXPECT_EQ(found("state=pending&state=dead&kind=else"), 1U);
  EXPECT_EQ(found("state=dead"), 0U);
  EXPECT_EQ(found("created_before=2020-01-01T00:00:00Z"), 0U);
  EXPECT_EQ(found("created_from=2020-01-01T00:00:00Z&kind=else"), 1U);
  for (const char* bad : {"limit=0", "limit=501", "limit=x", "cursor=zzz", "state=lost",
                          "colour=red", "created_from=now", "key.a=1&key.b=2", "kind=%01"}) {
    EXPECT_EQ(get(std::string("/api/v1/tasks?") + bad).status, 422) << bad;
  }
}

TEST_P(ApiTasks, SteersATaskAndKeepsWhoAndWhy) {
  start();
  const std::string id = submit(R"({"kind":"nobody","payload":1})");
  const auto order = [&](const std::string& verb,
                         const std::string& body = R"({"reason":"because"})") {
    return post("/api/v1/tasks/" + id + "/" + verb, body, "OPERATOR");
  };
  EXPECT_EQ(order("pause").text("effect"), "done");
  EXPECT_EQ(state_of(id), "paused");
  EXPECT_EQ(get("/api/v1/tasks/" + id + "/explain").text("code"), "paused");
  EXPECT_THAT(get("/api/v1/tasks/" + id + "/explain").text("explanation"),
              testing::AllOf(HasSubstr("olga paused it at "), HasSubstr("because")));
  EXPECT_EQ(order("resume").status, 200);
  EXPECT_EQ(get("/api/v1/tasks/" + id + "/explain").text("code"), "no_handler");
  EXPECT_EQ(order("resume").status, 409);
  const Reply edited =
      call(Method::kPatch, "/api/v1/tasks/" + id,
           R"({"payload":{"big":123456789012345678901},"reason":"typo"})", "OPERATOR");
  EXPECT_EQ(edited.status, 200) << edited.body;
  EXPECT_EQ(get("/api/v1/tasks/" + id).text("payload"), R"({"big":123456789012345678901})");
  EXPECT_EQ(call(Method::kPatch, "/api/v1/tasks/" + id, R"({"reason":"typo"})").status, 422);
  EXPECT_EQ(call(Method::kPatch, "/api/v1/tasks/" + id, R"({"payload":1,"payload_base64":"AA=="})")
                .status,
            422);
  EXPECT_EQ(order("cancel", R"({"why":"x"})").status, 422);
  EXPECT_EQ(order("cancel", R"({"reason":")" + std::string(1'001, 'x') + "\"}").status, 422);
  EXPECT_EQ(order("cancel").status, 200);
  EXPECT_EQ(state_of(id), "cancelled");
  EXPECT_EQ(order("retry").status, 409);
  const std::string audit = get("/api/v1/tasks/" + id + "/audit", "VIEWER").body;
  EXPECT_THAT(audit, HasSubstr(R"("actor":"olga")"));
  EXPECT_THAT(audit, HasSubstr("because"));
  EXPECT_THAT(audit, HasSubstr("typo"));
  EXPECT_THAT(get("/api/v1/audit").body, HasSubstr(id));
}

TEST_P(ApiTasks, ShowsHowATaskFailedTwiceAndThenWentThroughAndRedrivesTheDead) {
  std::atomic<int> calls = 0;
  std::atomic<bool> is_well = true;
  http::TestServer downstream([&](const http::TestServer::Seen&) {
    const bool fails = !is_well || calls++ < 2;
    return http::TestServer::Reply{.bytes = http::TestServer::answer(fails ? 503 : 200)};
  });
  start("  flaky: {url: '" + downstream.url() +
        "', max-retries: 3, breaker: false, backoff: {strategy: fixed, base: 1ms, min: 0s, jitter: "
        "none}}\n");
  const std::string id = submit(R"({"kind":"flaky","payload":{"a":1}})");
  ASSERT_TRUE(eventually([&] { return state_of(id) == "succeeded"; }));
  const array attempts = get("/api/v1/tasks/" + id + "/attempts").items();
  ASSERT_THAT(attempts, SizeIs(3));
  EXPECT_EQ(attempts[0].at("decision").as_string().subview(0, 5), "retry");
  EXPECT_EQ(attempts[2].at("decision").as_string(), "succeed");
  EXPECT_EQ(attempts[2].at("number").to_number<int>(), 3);
  EXPECT_FALSE(attempts[2].as_object().contains("started_at")) << "nobody wrote it down";
  EXPECT_EQ(downstream.seen().front().body, R"({"a":1})");

  is_well = false;
  const std::string dead = submit(R"({"kind":"flaky","payload":1,"max_retries":1})");
  ASSERT_TRUE(eventually([&] { return state_of(dead) == "dead"; }));
  EXPECT_THAT(get("/api/v1/dead", "VIEWER").items(), SizeIs(1));
  EXPECT_EQ(get("/api/v1/tasks/" + dead + "/explain").text("code"), "needs_person");
  is_well = true;
  const Reply edited = call(Method::kPatch, "/api/v1/tasks/" + dead,
                            R"({"payload":2,"retry":true,"reason":"corrected"})", "OPERATOR");
  ASSERT_EQ(edited.status, 200) << edited.body;
  ASSERT_TRUE(eventually([&] { return state_of(dead) == "succeeded"; }));
  EXPECT_EQ(downstream.seen().back().body, "2");
  EXPECT_EQ(get("/api/v1/tasks/" + dead).json().at("episode").to_number<int>(), 2);
  EXPECT_THAT(get("/api/v1/dead").items(), SizeIs(0));
}

INSTANTIATE_TEST_SUITE_P(Stores, ApiTasks, testing::ValuesIn(kStores), store_name);

}  // namespace
}  // namespace recourse::app

// The degrade door over the wire.
#include "tests/server_fixture.h"

namespace recourse::app {
namespace {

using testing::HasSubstr;
using testing::SizeIs;

class ApiDegrade : public ApiTest {
 protected:
  void start_door() {
    start(
        "  work: {type: worker}\n  points: {type: worker, degrade: true, backoff: {base: 1ms, min: "
        "1ms, max: 2ms}}\n",
        "degrade: {first-retry-after: 0s, clean: {when: never}, spool: {directory: '" +
            (folder_ / "spool").string() + "'}}\n");
  }
  std::string record(const std::string& more = "") {
    const Reply reply =
        post("/api/v1/degrade/failures",
             R"({"kind":"points","payload":{"n":1},"reason":"points are down")" + more + "}");
    EXPECT_EQ(reply.status, 201) << reply.body;
    EXPECT_EQ(reply.text("recorded_in"), "store");
    return reply.text("id");
  }
  value show(const std::string& id) { return get("/api/v1/degrade/failures/" + id).json(); }
  std::string status_of(const std::string& id) {
    return std::string(show(id).at("status").as_string());
  }
  array list(const std::string& query = "") {
    return get("/api/v1/degrade/failures" + query).items();
  }
  // As a worker: leases the next one, and reports.
  void work_off(const std::string& how) {
    ASSERT_TRUE(eventually([&] {
      const Reply leased = post("/api/v1/leases", R"({"worker":"w","kinds":["points"]})");
      if (leased.items().empty()) return false;
      const std::string ticket = ticket_of(leased.items().front().as_object());
      const std::string reason = how == "fail" ? R"(,"reason":"still down")" : "";
      return post("/api/v1/leases/" + how, R"({"ticket":")" + ticket + "\"" + reason + "}")
                 .status == 200;
    }));
  }
  std::string fail_for_good() {
    const std::string id = record();
    for (int i = 0; i < 3; ++i) work_off("fail");
    EXPECT_EQ(status_of(id), "FAILED");
    return id;
  }
};

// DEGR-2
TEST_P(ApiDegrade, RecordsAFailureAndShowsAllOfIt) {
  start_door();

  const std::string id = record(
      R"(,"member":"m-1","related_id":"o-1","type":"EARN_ORDER","amount":100,"remark":"消费获得","expires_at":"2030-01-01T00:00:00Z","tenant":"shop")");

  const value shown = show(id);
  EXPECT_EQ(shown.at("status"), "PENDING");
  EXPECT_EQ(shown.at("kind"), "points");
  EXPECT_EQ(shown.at("member"), "m-1");
  EXPECT_EQ(shown.at("related_id"), "o-1");
  EXPECT_EQ(shown.at("type"), "EARN_ORDER");
  EXPECT_EQ(shown.at("amount"), 100);
  EXPECT_EQ(shown.at("remark"), "消费获得");
  EXPECT_EQ(shown.at("expires_at"), "2030-01-01T00:00:00Z");
  EXPECT_EQ(shown.at("failure_reason"), "points are down");
  EXPECT_EQ(shown.at("retries"), 0);
  EXPECT_EQ(shown.at("max_retries"), 3);
}

// DEGR-3: over HTTP as in the library.
TEST_P(ApiDegrade, ThreeRetriesAndThenAPersonHasToLook) {
  start_door();
  const std::string id = record();

  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(status_of(id), "PENDING");
    work_off("fail");
  }

  EXPECT_EQ(status_of(id), "FAILED");
  EXPECT_EQ(show(id).at("last_error"), "gave up after 3 retries; last error: still down");
  EXPECT_EQ(show(id).at("retries"), 3);
}

// DEGR-4
TEST_P(ApiDegrade, FindsThemByWhatPeopleKnow) {
  start_door();
  const std::string one = record(R"(,"member":"m-1","related_id":"o-1","type":"EARN")");
  const std::string two = record(R"(,"member":"m-1","related_id":"o-2","type":"EARN")");
  submit(R"({"kind":"work","payload":1,"search_keys":{"member":"m-1"}})");

  EXPECT_THAT(list(), SizeIs(2)) << "a task of another kind is no failure";
  EXPECT_THAT(list("?member=m-1&related_id=o-2"), SizeIs(1));
  EXPECT_EQ(list("?related_id=o-1").at(0).at("id").as_string(), one);
  EXPECT_THAT(list("?status=FAILED"), SizeIs(0));
  EXPECT_THAT(list("?status=PENDING&limit=1"), SizeIs(1));
  EXPECT_THAT(list("?from=2999-01-01T00:00:00Z"), SizeIs(0));
  EXPECT_THAT(list("?before=2999-01-01T00:00:00Z&type=EARN&kind=points"), SizeIs(2));
  const Reply page = get("/api/v1/degrade/failures?limit=1");
  EXPECT_EQ(page.items().at(0).at("id").as_string(), two);
  EXPECT_EQ(list("?limit=1&cursor=" + page.text("next_cursor")).at(0).at("id").as_string(), one);
}

// DEGR-4: a completed one is refused.
TEST_P(ApiDegrade, RetriesOneButNotWhatIsCompleted) {
  start_door();
  const std::string id = fail_for_good();

  EXPECT_EQ(post("/api/v1/degrade/failures/" + id + "/retry", R"({"reason":"it is back"})")
                .text("effect"),
            "done");
  EXPECT_EQ(show(id).at("retries"), 0) << "those of this episode";
  work_off("fail");
  EXPECT_EQ(show(id).at("retries"), 1);
  work_off("complete");
  EXPECT_EQ(status_of(id), "COMPLETED");
  EXPECT_EQ(show(id).at("retries"), 2);
  const Reply again = post("/api/v1/degrade/failures/" + id + "/retry", "{}");

  EXPECT_EQ(again.status, 409);
  EXPECT_THAT(again.text("detail"), HasSubstr("COMPLETED"));
}

// DEGR-4
TEST_P(ApiDegrade, RetriesManyAsAJob) {
  start_door();
  const std::string id = fail_for_good();

  const Reply dry = post("/api/v1/degrade/retry", R"({"dry_run":true})");
  EXPECT_EQ(dry.json().at("count"), 1);
  const Reply job = post("/api/v1/degrade/retry", R"({"kind":"points","limit":10})");
  ASSERT_EQ(job.status, 202) << job.body;

  EXPECT_TRUE(eventually([&] { return status_of(id) == "PENDING"; }));
  EXPECT_TRUE(
      eventually([&] { return get("/api/v1/bulk/" + job.text("id")).text("state") == "done"; }));
}

// DEGR-4
TEST_P(ApiDegrade, CleansUpCompletedOnesOnly) {
  start_door();
  const std::string failed = fail_for_good();
  const std::string completed = record();
  work_off("complete");

  EXPECT_EQ(post("/api/v1/degrade/clean", R"({"older_than":"1d"})").json().at("deleted"), 0);
  ASSERT_TRUE(eventually([&] {
    return post("/api/v1/degrade/clean", R"({"older_than":"0s"})").json().at("deleted") == 1;
  }));

  EXPECT_EQ(get("/api/v1/degrade/failures/" + completed).status, 404);
  EXPECT_EQ(status_of(failed), "FAILED");
  EXPECT_EQ(post("/api/v1/degrade/clean", "{}", "MINE").status, 403);
}

// DEGR-5
TEST_P(ApiDegrade, SumsUp) {
  start_door();
  const std::string id = fail_for_good();
  (void)record();

  const value summary = get("/api/v1/degrade/summary", "VIEWER").json();

  EXPECT_EQ(summary.at("counts").at("FAILED"), 1);
  EXPECT_EQ(summary.at("counts").at("PENDING"), 1);
  EXPECT_EQ(summary.at("counts").at("COMPLETED"), 0);
  EXPECT_EQ(summary.at("newest_failed").at(0).at("id").as_string(), id);
  EXPECT_EQ(summary.at("spooled_bytes"), 0);
}

TEST_P(ApiDegrade, BadInputIsRefusedByFieldAndNothingIsWritten) {
  start_door();
  const auto refused = [&](const std::string& path, const std::string& body) {
    const Reply reply = post(path, body);
    EXPECT_EQ(reply.status, 422) << body;
    return reply.text("detail");
  };
  const std::string failures = "/api/v1/degrade/failures";
  EXPECT_THAT(refused(failures, R"({})"), HasSubstr("/kind"));
  EXPECT_THAT(refused(failures, R"({"kind":"work"})"), HasSubstr("/kind must be a degrade kind"));
  EXPECT_THAT(refused(failures, R"({"kind":"points","amount":"much"})"), HasSubstr("/amount"));
  EXPECT_THAT(refused(failures, R"({"kind":"points","member":"a\nb"})"), HasSubstr("/member"));
  EXPECT_THAT(refused(failures, R"({"kind":"points","remark":"a\nb"})"), HasSubstr("/remark"));
  EXPECT_THAT(refused(failures, R"({"kind":"points","expires_at":"soon"})"),
              HasSubstr("/expires_at"));
  EXPECT_THAT(refused(failures, R"({"kind":"points","id":"1"})"), HasSubstr("/id"));
  EXPECT_THAT(refused(failures, R"({"kind":"points","who":"x"})"), HasSubstr("/who"));
  const std::string far = R"("id":"tsk_7ZZZZZZZZZZZZZZZZZZZZZZZZZ"})";
  EXPECT_THAT(refused(failures, R"({"kind":"points",)" + far), HasSubstr("a day ahead"));
  EXPECT_THAT(refused("/api/v1/tasks", R"({"kind":"work","payload":1,)" + far),
              HasSubstr("a day ahead"));
  EXPECT_EQ(get(failures + "?status=FAILED&status=PENDING").status, 422);
  EXPECT_THAT(refused("/api/v1/degrade/retry", R"({"status":"COMPLETED"})"), HasSubstr("/status"));
  EXPECT_THAT(refused("/api/v1/degrade/retry", R"({"member":"m","type":"t"})"),
              HasSubstr("one at a time"));
  EXPECT_THAT(refused("/api/v1/degrade/clean", R"({"older_than":"old"})"),
              HasSubstr("/older_than"));
  EXPECT_EQ(get("/api/v1/degrade/failures?status=done").status, 422);
  EXPECT_EQ(post(failures, R"({"kind":"points"})", "ADMIN", {{"Idempotency-Key", "k"}}).status,
            422);

  EXPECT_THAT(list(), SizeIs(0));
}

TEST_P(ApiDegrade, MayBeRepeatedUnderItsId) {
  start_door();
  const std::string id = record();

  const Reply again =
      post("/api/v1/degrade/failures",
           R"({"kind":"points","payload":{"n":1},"reason":"in other words","id":")" + id + "\"}");

  EXPECT_EQ(again.status, 200) << again.body;
  EXPECT_EQ(again.text("id"), id);
  EXPECT_EQ(again.json().at("created"), false);
  EXPECT_EQ(again.text("reason"), "repeated");
  EXPECT_THAT(list(), SizeIs(1));
}

// A failure under an id that means something else would be lost.
TEST_P(ApiDegrade, AnIdOfSomethingElseIsRefused) {
  start_door();
  const std::string task = submit(R"({"kind":"work","payload":1})");
  const std::string failure = record(R"(,"member":"m-1")");
  const auto refused = [&](const std::string& id, const std::string& rest) {
    const Reply reply =
        post("/api/v1/degrade/failures", R"({"kind":"points","id":")" + id + "\"," + rest + "}");
    EXPECT_EQ(reply.status, 409) << reply.body;
    return reply.text("detail");
  };

  EXPECT_THAT(refused(task, R"("payload":1)"), HasSubstr("taken by a task of kind work"));
  EXPECT_THAT(refused(failure, R"("payload":{"n":2},"member":"m-1")"),
              HasSubstr("taken by a task of kind points"));
  EXPECT_THAT(refused(failure, R"("payload":{"n":1},"member":"m-2")"), HasSubstr("use a new id"));
  EXPECT_THAT(refused(failure, R"("payload":{"n":1},"member":"m-1","tenant":"shop")"),
              HasSubstr("another tenant"));
  EXPECT_THAT(list(), SizeIs(1));
}

// A server without degrade kinds says so, instead of taking all of its tasks for failures.
TEST_P(ApiDegrade, WithoutItsKindsThereIsNothing) {
  start();
  submit(R"({"kind":"work","payload":1})");

  EXPECT_THAT(list(), SizeIs(0));
  EXPECT_EQ(post("/api/v1/degrade/retry", "{}").status, 422);
  EXPECT_THAT(post("/api/v1/degrade/failures", R"({"kind":"work"})").text("detail"),
              HasSubstr("degrade: true"));
  EXPECT_EQ(post("/api/v1/degrade/clean", R"({"older_than":"0s"})").json().at("deleted"), 0);
}

INSTANTIATE_TEST_SUITE_P(Stores, ApiDegrade, testing::ValuesIn(kStores), store_name);

}  // namespace
}  // namespace recourse::app

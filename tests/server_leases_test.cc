// Workers over the wire: lease, renew, report, and what happens when they do not.
#include "tests/server_fixture.h"

namespace recourse::app {
namespace {

using http::Method;
using testing::SizeIs;

class ApiLeases : public ApiTest {
 protected:
  Reply report(const std::string& verb, const std::string& ticket, const std::string& more = "") {
    return post("/api/v1/leases/" + verb, R"({"ticket":")" + ticket + "\"" + more + "}",
                "OPERATOR");
  }
};

TEST_P(ApiLeases, AWorkerTakesATaskAndFinishesIt) {
  start();
  const std::string id = submit(R"({"kind":"work","payload":{"n":1.50}})");
  EXPECT_EQ(get("/api/v1/tasks/" + id + "/explain").text("code"), "nobody_leases");
  const object leased = lease_one();
  EXPECT_EQ(leased.at("id").as_string(), id);
  EXPECT_EQ(leased.at("payload").as_string(), R"({"n":1.50})");
  EXPECT_EQ(leased.at("attempt").to_number<int>(), 1);
  EXPECT_EQ(get("/api/v1/tasks/" + id).text("owner"), "worker:w");
  EXPECT_EQ(get("/api/v1/tasks/" + id + "/explain").text("code"), "leased");
  const std::string ticket = ticket_of(leased);
  const array renewed =
      post("/api/v1/leases/renew", R"({"tickets":[")" + ticket + R"("],"lease":"1h"})").items();
  ASSERT_THAT(renewed, SizeIs(1));
  EXPECT_GT(renewed.front().at("lease_end").as_string(), leased.at("lease_end").as_string());
  EXPECT_EQ(report("complete", ticket).text("state"), "succeeded");
  // Whoever lost the answer asks again.
  EXPECT_EQ(report("complete", ticket).status, 200);
  EXPECT_EQ(report("fail", ticket).status, 200);
  EXPECT_EQ(state_of(id), "succeeded");
  const array attempts = get("/api/v1/tasks/" + id + "/attempts").items();
  ASSERT_THAT(attempts, SizeIs(1));
  EXPECT_EQ(attempts[0].at("started_at"), get("/api/v1/tasks/" + id).json().at("started_at"));
  EXPECT_THAT(get("/metrics").body,
              testing::HasSubstr(R"(recourse_tasks_ended_total{kind="work",state="succeeded"} 1)"));
}

TEST_P(ApiLeases, WhoRenewsHearsWhatPeopleWant) {
  start();
  const std::string id = submit(R"({"kind":"work"})");
  const std::string ticket = ticket_of(lease_one());
  const auto renew = [&] {
    return post("/api/v1/leases/renew", R"({"tickets":[")" + ticket + R"("]})").items().front();
  };
  EXPECT_FALSE(renew().as_object().contains("requested"));

  EXPECT_EQ(post("/api/v1/tasks/" + id + "/cancel", "{}").text("effect"), "requested");

  EXPECT_EQ(renew().at("requested").as_string(), "cancel");
  EXPECT_EQ(report("fail", ticket).status, 200);
  EXPECT_EQ(state_of(id), "cancelled");
}

TEST_P(ApiLeases, ALongPollIsAnsweredWhenWorkComes) {
  start();
  Reply reply;
  std::thread worker([&] {
    reply = post("/api/v1/leases", R"({"worker":"w","kinds":["work"],"wait":"20s"})", "OPERATOR");
  });
  std::this_thread::sleep_for(50ms);  // so that it is likely to wait already
  const auto begin = std::chrono::steady_clock::now();
  const std::string id = submit(R"({"kind":"work"})");
  worker.join();
  EXPECT_LT(std::chrono::steady_clock::now() - begin, 10s);
  ASSERT_THAT(reply.items(), SizeIs(1)) << reply.body;
  EXPECT_EQ(reply.items().front().at("id").as_string(), id);
  EXPECT_THAT(post("/api/v1/leases", R"({"worker":"w","kinds":["work"]})").items(), SizeIs(0));
  EXPECT_THAT(post("/api/v1/leases", R"({"worker":"w","kinds":["work"],"wait":0.2})").items(),
              SizeIs(0));
}

TEST_P(ApiLeases, AWorkerWhoHasLeftGetsNoWork) {
  start();
  const auto gone = http::fetch(
      *client_, {.url = "http://127.0.0.1:" + std::to_string(server_->port()) + "/api/v1/leases",
                 .headers = {{"Authorization", "Bearer " + kSecrets.at("OPERATOR")}},
                 .body = R"({"worker":"gone","kinds":["work"],"wait":"30s"})",
                 .timeout = 200ms});
  ASSERT_TRUE(std::holds_alternative<http::CallFailed>(gone));
  std::this_thread::sleep_for(100ms);  // for the server to see that the connection is closed
  const std::string id = submit(R"({"kind":"work"})");
  const object leased = lease_one();
  EXPECT_EQ(leased.at("id").as_string(), id);
  EXPECT_EQ(leased.at("owner").as_string(), "worker:w");
}

TEST_P(ApiLeases, AnotherWorkerTakesOverWhenALeaseEnds) {
  start();
  const std::string id = submit(R"({"kind":"work"})");
  const object first = lease_one("100ms");
  const object second = lease_one();
  EXPECT_EQ(second.at("id").as_string(), id);
  EXPECT_GT(second.at("fence").as_int64(), first.at("fence").as_int64());
  EXPECT_EQ(report("complete", ticket_of(first)).status, 409);
  const array renewed =
      post("/api/v1/leases/renew", R"({"tickets":[")" + ticket_of(first) + R"("]})").items();
  EXPECT_TRUE(renewed.front().at("lease_end").is_null());
  EXPECT_EQ(state_of(id), "running");
  EXPECT_EQ(report("complete", ticket_of(second)).status, 200);
}

TEST_P(ApiLeases, AFailureMeansWhatItsKindSays) {
  start(
      "  work: {type: worker, max-retries: 1, backoff: {strategy: fixed, base: 1ms, min: 0s, "
      "jitter: none}}\n");
  const std::string id = submit(R"({"kind":"work"})");
  const Reply again =
      report("fail", ticket_of(lease_one()),
             R"(,"outcome":"retry","code":"NOT_YET","reason":"no file","took":"2s")");
  EXPECT_EQ(again.text("state"), "pending");
  const object second = lease_one();
  EXPECT_EQ(second.at("attempt").to_number<int>(), 2);
  EXPECT_EQ(second.at("last_error").at("code").as_string(), "NOT_YET");
  EXPECT_EQ(report("fail", ticket_of(second)).text("state"), "dead");
  EXPECT_THAT(get("/api/v1/tasks/" + id + "/attempts").items(), SizeIs(2));
  ASSERT_EQ(post("/api/v1/tasks/" + id + "/retry").status, 200);
  const Reply snoozed =
      report("fail", ticket_of(lease_one()), R"(,"outcome":"snooze","retry_after":"1h")");
  EXPECT_EQ(snoozed.text("state"), "pending");
  EXPECT_EQ(get("/api/v1/tasks/" + id).json().at("retries").to_number<int>(), 0);
  ASSERT_EQ(post("/api/v1/tasks/" + id + "/retry").status, 200);
  EXPECT_EQ(report("fail", ticket_of(lease_one()), R"(,"outcome":"failed")").text("state"),
            "failed");
}

TEST_P(ApiLeases, RefusesWhatCannotBeLeased) {
  start();
  for (const char* bad :
       {R"({})", R"({"worker":"w"})", R"({"worker":"","kinds":["work"]})",
        R"({"worker":"w","kinds":[]})", R"({"worker":"w","kinds":[""]})",
        R"({"worker":"w","kinds":["work"],"lease":0})",
        R"({"worker":"w","kinds":["work"],"lease":"25h"})",
        R"({"worker":"w","kinds":["work"],"wait":"51s"})",
        R"({"worker":"w","kinds":["work"],"limit":501})", R"({"worker":"w\n","kinds":["work"]})"}) {
    EXPECT_EQ(post("/api/v1/leases", bad).status, 422) << bad;
  }
  EXPECT_EQ(post("/api/v1/leases", R"({"worker":"w","kinds":["work","work"]})").status, 200);
  EXPECT_EQ(report("complete", "nonsense").status, 422);
  EXPECT_EQ(report("fail", "nonsense", R"(,"outcome":"whatever")").status, 422);
  EXPECT_EQ(
      report("complete", "tsk_01JCVX2M8Q6E4ZK9T3W5R7YBND~1~01JCVX2M8Q6E4ZK9T3W5R7YBND").status,
      404);
  EXPECT_EQ(post("/api/v1/leases/renew", R"({"tickets":[]})").status, 422);
  EXPECT_EQ(post("/api/v1/leases/renew", R"({"tickets":["x"]})").status, 422);
}

TEST_P(ApiLeases, APausedKindGivesNothing) {
  start();
  const std::string id = submit(R"({"kind":"work"})");
  ASSERT_EQ(post("/api/v1/kinds/work/pause", "", "OPERATOR").status, 200);
  EXPECT_THAT(post("/api/v1/leases", R"({"worker":"w","kinds":["work"]})").items(), SizeIs(0));
  EXPECT_EQ(get("/api/v1/tasks/" + id + "/explain").text("code"), "kind_paused");
  EXPECT_TRUE(get("/api/v1/kinds/work").json().at("paused").as_bool());
  ASSERT_EQ(post("/api/v1/kinds/work/resume", "", "OPERATOR").status, 200);
  EXPECT_EQ(lease_one().at("id").as_string(), id);
  // Which would pause a kind of that very name, and no other.
  EXPECT_EQ(post("/api/v1/kinds/wor%2A/pause").status, 422);
  EXPECT_THAT(get("/api/v1/audit").body, testing::HasSubstr("olga"));
}

TEST_P(ApiLeases, AStopAnswersWhoWaitsAndIsNotHeldUp) {
  start();
  Reply waiting;
  std::thread worker([&] {
    waiting = post("/api/v1/leases", R"({"worker":"w","kinds":["work"],"wait":"30s"})", "OPERATOR");
  });
  std::this_thread::sleep_for(100ms);  // so that it waits
  const auto begin = std::chrono::steady_clock::now();
  (void)server_->stop(20s);
  EXPECT_LT(std::chrono::steady_clock::now() - begin, 4s);
  worker.join();
  EXPECT_EQ(waiting.status, 200);
}

INSTANTIATE_TEST_SUITE_P(Stores, ApiLeases, testing::ValuesIn(kStores), store_name);

}  // namespace
}  // namespace recourse::app

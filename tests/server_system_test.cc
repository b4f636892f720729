// The whole, over the wire: bulk jobs, events, figures, health, secrets, stopping.
#include <atomic>
#include <set>

#include "http/test_server.h"
#include "tests/server_fixture.h"

namespace recourse::app {
namespace {

using http::Method;
using testing::HasSubstr;
using testing::Not;
using testing::SizeIs;

class ApiSystem : public ApiTest {
 protected:
  std::string job_state(const std::string& id) { return get("/api/v1/bulk/" + id).text("state"); }
};

TEST_P(ApiSystem, ABulkJobCountsFirstAndThenDoesIt) {
  start();
  std::vector<std::string> ids;
  for (int i = 0; i < 12; ++i) ids.push_back(submit(R"({"kind":"many"})"));
  const std::string filter = R"("action":"pause","filter":{"kind":"many","state":"pending"})";
  const Reply dry = post("/api/v1/bulk", "{" + filter + R"(,"dry_run":true})", "OPERATOR");
  EXPECT_EQ(dry.json().at("count").to_number<int>(), 12);
  EXPECT_EQ(state_of(ids.front()), "pending");
  const Reply job =
      post("/api/v1/bulk", "{" + filter + R"(,"limit":10,"reason":"calm"})", "OPERATOR");
  ASSERT_EQ(job.status, 202) << job.body;
  ASSERT_TRUE(eventually([&] { return job_state(job.text("id")) == "done"; }));
  const value shown = get("/api/v1/bulk/" + job.text("id"), "VIEWER").json();
  EXPECT_EQ(shown.at("done").to_number<int>(), 10);
  EXPECT_THAT(get("/api/v1/tasks?state=paused").items(), SizeIs(10));
  EXPECT_EQ(post("/api/v1/bulk/" + job.text("id") + "/cancel").status, 409);
  EXPECT_EQ(post("/api/v1/bulk/blk_1/cancel").status, 404);
  EXPECT_EQ(get("/api/v1/bulk/blk_1").status, 404);
  EXPECT_THAT(get("/api/v1/tasks/" + ids.back() + "/audit").body, HasSubstr("calm"));
}

TEST_P(ApiSystem, ManyByIdAreAnsweredEach) {
  start();
  const std::string a = submit(R"({"kind":"many"})");
  const std::string none = "tsk_01JCVX2M8Q6E4ZK9T3W5R7YBND";
  const std::string which = R"("action":"cancel","ids":[")" + a + R"(",")" + none + R"("])";
  // A dry run changes nothing, by ids either.
  const Reply dry = post("/api/v1/bulk", "{" + which + R"(,"dry_run":true})");
  EXPECT_EQ(dry.json().at("count").to_number<int>(), 1);
  EXPECT_EQ(state_of(a), "pending");
  const Reply done = post("/api/v1/bulk", "{" + which + "}");
  EXPECT_EQ(done.json().at("refused").to_number<int>(), 1);
  EXPECT_EQ(done.items()[0].at("effect").as_string(), "done");
  EXPECT_EQ(state_of(a), "cancelled");
  for (const char* bad :
       {R"({})", R"({"action":"retry"})", R"({"action":"","filter":{}})",
        R"({"action":"explode","filter":{}})", R"({"action":"retry","ids":[],"filter":{}})",
        R"({"action":"retry","filter":{"colour":1}})",
        R"({"action":"retry","filter":{"state":["dead","pending"]}})",
        R"({"action":"retry","filter":{},"limit":0})"}) {
    EXPECT_EQ(post("/api/v1/bulk", bad).status, 422) << bad;
  }
  const Reply missing = post("/api/v1/bulk", R"({"filter":{}})");
  EXPECT_THAT(missing.json().at("errors").as_array(), SizeIs(1)) << missing.body;
}

// A client that reads a stream until it has seen enough.
class Watcher {
 public:
  Watcher(http::Client& client, std::uint16_t port, const std::string& token) : client_(client) {
    call_ = client.send({.method = Method::kGet,
                         .url = "http://127.0.0.1:" + std::to_string(port) + "/api/v1/events",
                         .headers = {{"Authorization", "Bearer " + token}},
                         .timeout = 60s,
                         .on_piece =
                             [this](std::string_view piece) {
                               MutexLock lock(mutex_);
                               seen_ += piece;
                               return true;
                             }},
                        [this](const http::CallResult&) { ended_ = true; });
  }
  ~Watcher() {
    client_.cancel(call_);
    while (!ended_) std::this_thread::sleep_for(1ms);
  }
  Watcher(const Watcher&) = delete;
  Watcher& operator=(const Watcher&) = delete;

  std::string seen() {
    MutexLock lock(mutex_);
    return seen_;
  }
  bool ended() const { return ended_; }

 private:
  http::Client& client_;
  http::CallId call_ = 0;
  Mutex mutex_;
  std::string seen_ GUARDED_BY(mutex_);
  std::atomic<bool> ended_ = false;
};

TEST_P(ApiSystem, EventsComeAsTheyHappenToWhomTheyConcern) {
  start();
  Watcher all(*client_, server_->port(), kSecrets.at("VIEWER"));
  Watcher foreign(*client_, server_->port(), kSecrets.at("FOREIGN"));
  ASSERT_TRUE(eventually([&] { return !all.seen().empty() && !foreign.seen().empty(); }));
  (void)submit(R"({"kind":"work","tenant":"mine"})");
  const object mine = lease_one();
  ASSERT_EQ(post("/api/v1/leases/complete", R"({"ticket":")" + ticket_of(mine) + "\"}").status,
            200);
  const std::string id(mine.at("id").as_string());
  ASSERT_TRUE(eventually([&] { return all.seen().find(id) != std::string::npos; }));
  EXPECT_THAT(all.seen(), HasSubstr("event: task\ndata: {"));
  (void)submit(R"({"kind":"work"})", "FOREIGN");
  const object theirs = lease_one();
  ASSERT_EQ(post("/api/v1/leases/complete", R"({"ticket":")" + ticket_of(theirs) + "\"}").status,
            200);
  const std::string other(theirs.at("id").as_string());
  ASSERT_TRUE(eventually([&] { return foreign.seen().find(other) != std::string::npos; }));
  EXPECT_THAT(foreign.seen(), Not(HasSubstr(id)));
  // A stop ends the streams.
  (void)server_->stop(5s);
  EXPECT_TRUE(eventually([&] { return all.ended() && foreign.ended(); }));
}

TEST_P(ApiSystem, ShowsWhatComesBackByTheClock) {
  start("  work: {type: worker}\n",
        "schedules:\n"
        "  leap: {when: '0 0 29 2 *', kind: work, tenant: mine}\n"
        "  often: {when: every 1d, kind: other}\n");
  const array all = get("/api/v1/schedules", "VIEWER").items();
  ASSERT_THAT(all, SizeIs(2));
  EXPECT_EQ(all[0].at("name").as_string(), "leap");
  EXPECT_EQ(all[0].at("when").as_string(), "0 0 29 2 *");
  EXPECT_EQ(all[0].at("kind").as_string(), "work");
  EXPECT_EQ(all[0].at("tenant").as_string(), "mine");
  EXPECT_EQ(all[0].at("next_at").as_string().subview(4), "-02-29T00:00:00Z");
  EXPECT_THAT(get("/api/v1/schedules", "MINE").items(), SizeIs(1));
  EXPECT_THAT(get("/api/v1/schedules", "FOREIGN").items(), SizeIs(0));
}

TEST_P(ApiSystem, ShowsItsHealthItsNodesAndItsFigures) {
  start();
  (void)submit(R"({"kind":"work","unique_key":"a"})");
  EXPECT_EQ(get("/livez", "").body, "ok\n");
  EXPECT_EQ(get("/readyz", "").status, 200);
  EXPECT_THAT(get("/readyz?verbose", "").body, HasSubstr("live"));
  EXPECT_EQ(get("/openapi.json", "").json().at("openapi").as_string(), "3.1.0");
  const array nodes = get("/api/v1/nodes").items();
  ASSERT_THAT(nodes, SizeIs(1));
  EXPECT_TRUE(nodes[0].at("is_this").as_bool());
  EXPECT_EQ(get("/api/v1/stats").json().at("states").at("pending").to_number<int>(), 1);
  EXPECT_EQ(get("/api/v1/stats/backlog").items().front().at("due").to_number<int>(), 1);
  EXPECT_EQ(get("/api/v1/stats/series").items().back().at("submitted").to_number<int>(), 1);
  EXPECT_THAT(get("/api/v1/kinds").items(), SizeIs(1));
  EXPECT_EQ(get("/api/v1/kinds/work").json().at("backlog").at("due").to_number<int>(), 1);
  EXPECT_EQ(get("/api/v1/kinds/unheard-of").status, 404);
  const Reply audit = get("/api/v1/audit?limit=1");
  EXPECT_EQ(audit.status, 200);
  EXPECT_EQ(get("/api/v1/audit?cursor=x").status, 422);
  const Reply head = call(Method::kHead, "/api/v1/tasks");
  EXPECT_EQ(head.status, 200);
  EXPECT_EQ(head.headers.find("Cache-Control"), "no-store");
}

// The text format, as a scraper reads it.
TEST_P(ApiSystem, MetricsAreInOrder) {
  start();
  (void)submit(R"({"kind":"work \"quoted\"\\ k"})");
  (void)submit(R"({"kind":"work"})");
  (void)post("/api/v1/leases/complete", R"({"ticket":")" + ticket_of(lease_one()) + "\"}");
  const Reply reply = get("/metrics", "VIEWER");
  EXPECT_EQ(reply.headers.find("Content-Type"), "text/plain; version=0.0.4; charset=utf-8");
  const std::set<std::string> families = families_in_order(reply.body);
  EXPECT_TRUE(families.contains("recourse_build_info"));
  EXPECT_THAT(reply.body, HasSubstr(R"(recourse_tasks_submitted_total{kind="work"} 1)"));
  EXPECT_THAT(reply.body, HasSubstr(R"(kind="work \"quoted\"\\ k")"));
}

TEST_P(ApiSystem, NoSecretIsEverShown) {
  http::TestServer downstream([](const http::TestServer::Seen&) {
    return http::TestServer::Reply{.bytes = http::TestServer::answer(500, "canary-payload is bad")};
  });
  start("  call: {url: '" + downstream.url("/x?key=canary-query") +
        "', max-retries: 0, signing: ['env:SIGNING'], secret-headers: {X-Key: 'env:HEADER'}}\n"
        "  lost: {url: 'http://127.0.0.1:1/?key=canary-query', max-retries: 0}\n");
  std::string all;
  const std::string made = post("/api/v1/tokens", R"({"name":"x","role":"viewer"})").text("token");
  for (const char* kind : {"call", "lost"}) {
    const std::string id =
        submit(std::string(R"({"kind":")") + kind + R"(","payload":"canary-payload"})");
    ASSERT_TRUE(eventually([&] { return state_of(id) == "dead"; }));
    all += get("/api/v1/tasks/" + id + "/attempts").body +
           get("/api/v1/tasks/" + id + "/explain").body;
    all += get("/api/v1/tasks/" + id + "/audit").body;
  }
  for (const char* target :
       {"/api/v1/kinds", "/api/v1/kinds/call", "/api/v1/nodes", "/api/v1/stats", "/api/v1/audit",
        "/api/v1/tokens", "/api/v1/whoami", "/metrics", "/readyz?verbose", "/api/v1/stats/series",
        "/openapi.json"}) {
    all += get(target).body;
  }
  // Errors repeat what was wrong, and must not repeat who asked.
  all += get("/api/v1/nothing").body + get("/api/v1/whoami", "rcs_canary_wrong_token").body;
  all += post("/api/v1/tasks", "{", "OPERATOR").body + post("/api/v1/tasks", "{}", "VIEWER").body;
  (void)server_->stop(5s);
  for (const std::string& line : log_.lines()) all += line + "\n";
  for (const auto& [name, secret] : kSecrets) {
    EXPECT_EQ(all.find(secret), std::string::npos) << name;
  }
  for (const std::string& secret :
       {made, std::string("canary-query"), std::string("rcs_canary_wrong")}) {
    const std::size_t at = all.find(secret);
    EXPECT_EQ(at, std::string::npos) << all.substr(at < 200 ? 0 : at - 200, 400);
  }
  // It was really asked for.
  ASSERT_FALSE(downstream.seen().empty());
  EXPECT_EQ(downstream.seen().front().headers.find("X-Key"), kSecrets.at("HEADER"));
}

TEST_P(ApiSystem, AStoreThatCannotBeReachedIsNotNamedWithItsPassword) {
  const Environment environment = {{"STORE", "postgres://user:canary-password@127.0.0.1:1/x"}};
  const Loaded loaded = parse_config(
      {.file = "recourse.yaml", .text = "store: {url: 'env:STORE'}\n", .environment = environment});
  ASSERT_TRUE(loaded.config);
  const auto server = RunningServer::start(*loaded.config, environment, log_);
  ASSERT_FALSE(server);
  std::string all = server.error().message;
  for (const std::string& line : log_.lines()) all += line;
  EXPECT_THAT(all, Not(HasSubstr("canary-password")));
}

TEST_P(ApiSystem, AStopUnderLoadAnswersEveryRequestProperly) {
  start();
  std::atomic<bool> ends = false;
  std::atomic<int> accepted = 0;
  std::vector<std::thread> callers;
  const std::string url = "http://127.0.0.1:" + std::to_string(server_->port()) + "/api/v1/";
  for (int i = 0; i < 4; ++i) {
    callers.emplace_back([&, i] {
      while (!ends) {
        const auto result = http::fetch(
            *client_, {.method = i == 0 ? Method::kGet : Method::kPost,
                       .url = url + "tasks",
                       .headers = {{"Authorization", "Bearer " + kSecrets.at("OPERATOR")}},
                       .body = i == 0 ? "" : R"({"kind":"load"})"});
        const auto* answer = std::get_if<http::Answer>(&result);
        if (answer == nullptr) break;  // nobody listens any more
        if (answer->status >= 400)
          expect_problem({answer->status, answer->headers, answer->body}, "load");
        EXPECT_TRUE(answer->status == 200 || answer->status == 201 || answer->status == 503)
            << answer->status << answer->body;
        if (answer->status == 201) ++accepted;
      }
    });
  }
  ASSERT_TRUE(eventually([&] { return accepted > 50; }));
  (void)server_->stop(10s);
  ends = true;
  for (std::thread& caller : callers) caller.join();
  if (std::string(GetParam()) == "memory") return;
  // What was accepted is there after the next start.
  server_.reset();
  const int promised = accepted;
  start();
  EXPECT_GE(get("/api/v1/stats").json().at("states").at("pending").to_number<int>(), promised);
}

INSTANTIATE_TEST_SUITE_P(Stores, ApiSystem, testing::ValuesIn(kStores), store_name);

}  // namespace
}  // namespace recourse::app

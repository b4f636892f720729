// Who may do what: every route, with every sort of token.
#include "api/route.h"
#include "tests/server_fixture.h"

namespace recourse::app {
namespace {

using http::Method;

class ApiAccess : public ApiTest {
 protected:
  void SetUp() override {
    start(
        "  work: {type: worker}\n  points: {type: worker, degrade: true}\n  bill: "
        "{type: worker, message: true}\n",
        "degrade: {spool: {directory: '" + (folder_ / "spool").string() + "'}}\n");
    task_ = submit(R"({"kind":"nobody","tenant":"mine","payload":1})");
    (void)submit(R"({"kind":"work","tenant":"mine","payload":2})");
    leased_ = lease_one();
    job_ =
        post("/api/v1/bulk", R"({"action":"pause","filter":{"kind":"none"}})", "MINE").text("id");
    token_ = post("/api/v1/tokens", R"({"name":"t","role":"viewer"})").text("id");
  }

  std::string target_of(const api::Route& route) {
    std::string path(route.path);
    if (path == "/api/v1/creates") return path + "?tenant=7&business_type=B&key=k";
    std::string value = task_;
    if (path.starts_with("/api/v1/bulk/")) value = job_;
    if (path.starts_with("/api/v1/tokens/")) value = token_;
    if (path.starts_with("/api/v1/kinds/")) value = "work";
    if (path.starts_with("/api/v1/notifications/")) value = "log";
    for (std::size_t at = path.find('{'); at != std::string::npos; at = path.find('{')) {
      path.replace(at, path.find('}') - at + 1, value);
    }
    return path;
  }

  // One that would be carried out, where the caller may.
  std::string body_of(const api::Route& route) {
    if (route.method == Method::kGet || route.method == Method::kDelete) return "";
    if (route.path == "/api/v1/tasks") return R"({"kind":"nobody"})";
    if (route.path == "/api/v1/tasks/batch") return R"({"tasks":[]})";
    if (route.method == Method::kPatch) return R"({"payload":7})";
    if (route.path == "/api/v1/bulk") return R"({"action":"cancel","ids":[")" + task_ + R"("]})";
    if (route.path == "/api/v1/leases") return R"({"worker":"w","kinds":["work"]})";
    if (route.path == "/api/v1/leases/renew") {
      return R"({"tickets":[")" + ticket_of(leased_) + R"("],"lease":"1h"})";
    }
    if (route.path.starts_with("/api/v1/leases/")) {
      return R"({"ticket":")" + ticket_of(leased_) + R"("})";
    }
    if (route.path == "/api/v1/creates/acquire") {
      return R"({"tenant":7,"business_type":"B","resource_type":"ord","key":"k","request":{}})";
    }
    if (route.path.starts_with("/api/v1/creates/")) {
      return R"({"tenant":7,"business_type":"B","key":"k","fence":1})";
    }
    if (route.path.ends_with("/case/note")) return R"({"note":"seen"})";
    if (route.path == "/api/v1/degrade/failures") return R"({"kind":"points"})";
    if (route.path == "/api/v1/messages/check") {
      return R"({"messages":[{"group":"g","topic":"t","message_id":"1"}]})";
    }
    if (route.path == "/api/v1/messages/done") {
      return R"({"group":"g","topic":"t","message_id":"1"})";
    }
    if (route.path == "/api/v1/messages/record") {
      return R"({"kind":"bill","group":"g","topic":"t","message_id":"2","error_message":"no"})";
    }
    if (route.path == "/api/v1/tokens") return R"({"name":"x","role":"admin"})";
    return "{}";
  }

  int ask(const api::Route& route, const std::string& who) {
    if (route.path == "/api/v1/events") return watch(who);
    if (route.shape == api::Shape::kSource) {
      const Reply reply = call_plainly(route.method, target_of(route), body_of(route), who);
      // Those about messages answer with a bare number or word.
      if (reply.status >= 400 || !route.path.starts_with("/extend/")) {
        EXPECT_EQ(reply.json().at("code"), reply.status) << reply.body;
      }
      return reply.status;
    }
    return call(route.method, target_of(route), body_of(route), who).status;
  }

  // The stream never ends by itself: its first piece is enough.
  int watch(const std::string& who) {
    http::Headers headers;
    if (!who.empty()) headers.set("Authorization", "Bearer " + kSecrets.at(who));
    const auto result = http::fetch(
        *client_, {.method = Method::kGet,
                   .url = "http://127.0.0.1:" + std::to_string(server_->port()) + "/api/v1/events",
                   .headers = headers,
                   .on_piece = [](std::string_view) { return false; }});
    const auto* answer = std::get_if<http::Answer>(&result);
    return answer == nullptr ? 200 : answer->status;
  }

  std::string task_;
  object leased_;
  std::string job_;
  std::string token_;
};

TEST_P(ApiAccess, EveryRouteAsksForItsRole) {
  const std::pair<std::string, api::Role> callers[] = {{"", api::Role::kNone},
                                                       {"VIEWER", api::Role::kViewer},
                                                       {"OPERATOR", api::Role::kOperator},
                                                       {"ADMIN", api::Role::kAdmin}};
  for (const api::Route& route : api::all_routes()) {
    for (const auto& [who, role] : callers) {
      const int status = ask(route, who);
      const std::string of =
          std::string(http::to_string(route.method)) + " " + std::string(route.path) + " by " + who;
      if (role >= route.role) {
        EXPECT_NE(status, 401) << of;
        EXPECT_NE(status, 403) << of;
        EXPECT_LT(status, 500) << of;
      } else {
        EXPECT_EQ(status, who.empty() ? 401 : 403) << of;
      }
    }
  }
}

TEST_P(ApiAccess, AnotherTenantsAdminSeesAndChangesNothingOfOurs) {
  const auto snapshot = [&] {
    return get("/api/v1/tasks/" + task_).body + get("/api/v1/tasks/" + task_ + "/audit").body +
           get("/api/v1/tasks/" + std::string(leased_.at("id").as_string())).body +
           get("/api/v1/bulk/" + job_).body + get("/api/v1/kinds/work").body;
  };
  ASSERT_TRUE(eventually([&] { return get("/api/v1/bulk/" + job_).text("state") == "done"; }));
  const std::string before = snapshot();
  for (const api::Route& route : api::all_routes()) {
    const std::string_view path = route.path;
    const std::string of = std::string(http::to_string(route.method)) + " " + std::string(path);
    const int status = ask(route, "FOREIGN");
    const bool is_ours = path.find("{id}") != std::string_view::npos ||
                         path == "/api/v1/leases/complete" || path == "/api/v1/leases/fail";
    const bool is_everybodys =
        path.starts_with("/api/v1/tokens") || path.starts_with("/api/v1/notifications/channels") ||
        path.starts_with("/api/v1/creates") || path == "/api/v1/audit" ||
        path == "/api/v1/leases" || path == "/api/v1/degrade/clean" ||
        path == "/api/v1/messages/clean" || path == "/api/v1/messages/sources" ||
        path.starts_with("/api/v1/guards") || path == "/api/admin/abnormal/list" ||
        (path.starts_with("/api/v1/kinds/") && route.method == Method::kPost);
    if (is_everybodys) {
      EXPECT_EQ(status, 403) << of;
    } else if (is_ours) {
      EXPECT_EQ(status, 404) << of;
    } else {
      EXPECT_LT(status, 300) << of;
    }
  }
  EXPECT_EQ(snapshot(), before);
}

TEST_P(ApiAccess, AnotherTenantMeansItsOwnTasksOnly) {
  const std::string own = submit(R"({"kind":"nobody"})", "FOREIGN");
  EXPECT_EQ(get("/api/v1/tasks/" + own).text("tenant"), "other");
  const array listed = get("/api/v1/tasks", "FOREIGN").items();
  ASSERT_EQ(listed.size(), 1U);
  EXPECT_EQ(listed.front().at("id").as_string(), own);
  // Who names another tenant is told so, instead of meaning their own by it.
  EXPECT_EQ(get("/api/v1/tasks?tenant=mine", "FOREIGN").status, 422);
  EXPECT_EQ(post("/api/v1/tasks", R"({"kind":"nobody","tenant":"mine"})", "FOREIGN").status, 422);
  EXPECT_EQ(
      post("/api/v1/bulk", R"({"action":"cancel","filter":{"tenant":"mine"}})", "FOREIGN").status,
      422);
  const Reply dry =
      post("/api/v1/bulk", R"({"action":"cancel","filter":{},"dry_run":true})", "FOREIGN");
  EXPECT_EQ(dry.json().at("count").to_number<int>(), 1);
  const Reply job = post("/api/v1/bulk", R"({"action":"cancel","filter":{}})", "FOREIGN");
  ASSERT_EQ(job.status, 202) << job.body;
  ASSERT_TRUE(eventually([&] { return state_of(own) == "cancelled"; }));
  EXPECT_EQ(state_of(task_), "pending");
  EXPECT_THAT(get("/api/v1/bulk", "FOREIGN").items(), testing::SizeIs(1));
  const Reply ids =
      post("/api/v1/bulk", R"({"action":"cancel","ids":[")" + task_ + R"("]})", "FOREIGN");
  EXPECT_EQ(ids.json().at("refused").to_number<int>(), 1);
  EXPECT_EQ(ids.items().front().at("error").at("code").as_string(), "not_found");
  const Reply renewed =
      post("/api/v1/leases/renew", R"({"tickets":[")" + ticket_of(leased_) + R"("]})", "FOREIGN");
  EXPECT_TRUE(renewed.items().front().at("lease_end").is_null());
}

TEST_P(ApiAccess, RefusesWhatItDoesNotKnow) {
  EXPECT_EQ(get("/api/v1/tasks", "rcs_0000000000000000000000").status, 401);
  EXPECT_EQ(get("/api/v1/tasks", "not a token").status, 401);
  EXPECT_TRUE(get("/api/v1/tasks", "").headers.find("WWW-Authenticate"));
  EXPECT_EQ(call(Method::kGet, "/api/v1/whoami", "", "", {{"Authorization", "Basic YTpi"}}).status,
            401);
  EXPECT_EQ(call(Method::kGet, "/api/v1/whoami", "", "",
                 {{"Authorization", "bearer " + kSecrets.at("VIEWER")}})
                .status,
            200);
  EXPECT_EQ(call(Method::kGet, "/api/v1/whoami", "", "VIEWER", {{"Host", "evil.example"}}).status,
            421);
  EXPECT_EQ(post("/api/v1/tasks", "{}", "ADMIN", {{"Sec-Fetch-Site", "cross-site"}}).status, 403);
  EXPECT_EQ(get("/api/v1/nothing").status, 404);
  const Reply wrong = call(Method::kPut, "/api/v1/tasks");
  EXPECT_EQ(wrong.status, 405);
  EXPECT_TRUE(wrong.headers.find("Allow"));
  // Health is told to anybody, whatever they show.
  EXPECT_EQ(get("/livez", "wrong").status, 200);
}

TEST_P(ApiAccess, SlowsDownWhoGuessesAndNobodyElse) {
  int refused = 0;
  for (int i = 0; i < 40; ++i) {
    if (get("/api/v1/whoami", "rcs_guess" + std::to_string(i)).status == 429) ++refused;
  }
  EXPECT_GT(refused, 10);
  EXPECT_EQ(get("/api/v1/whoami", "VIEWER").status, 200);
}

TEST_P(ApiAccess, MakesAndTakesAwayTokens) {
  const Reply made = post("/api/v1/tokens",
                          R"({"name":"ci","role":"operator","tenant":"mine","expires_in":"1h"})");
  ASSERT_EQ(made.status, 201) << made.body;
  const std::string secret = made.text("token");
  EXPECT_TRUE(secret.starts_with("rcs_"));
  const Reply who = get("/api/v1/whoami", secret);
  EXPECT_EQ(who.text("name"), "ci");
  EXPECT_EQ(who.text("tenant"), "mine");
  EXPECT_EQ(get("/api/v1/tokens").body.find(secret), std::string::npos);
  EXPECT_EQ(call(Method::kDelete, "/api/v1/tokens/" + made.text("id")).status, 204);
  EXPECT_EQ(get("/api/v1/whoami", secret).status, 401);
  EXPECT_EQ(call(Method::kDelete, "/api/v1/tokens/" + made.text("id")).status, 404);
  for (const char* bad :
       {R"({"name":"","role":"viewer"})", R"({"name":"x","role":"root"})",
        R"({"name":"x","role":""})", R"({"name":"x","role":"viewer","tenant":""})",
        R"({"role":"viewer"})", R"({"name":"x","role":"viewer","more":1})"}) {
    EXPECT_EQ(post("/api/v1/tokens", bad).status, 422) << bad;
  }
}

TEST_P(ApiAccess, TheAuditSaysWhoMadeTokensAndWhyAKindIsPaused) {
  ASSERT_EQ(post("/api/v1/kinds/work/pause", R"({"reason":"moving"})", "OPERATOR").status, 200);
  EXPECT_EQ(post("/api/v1/kinds/work/pause", R"({"why":"moving"})", "OPERATOR").status, 422);
  ASSERT_EQ(call(Method::kDelete, "/api/v1/tokens/" + token_).status, 204);
  std::vector<std::string> said;
  for (const auto& entry : get("/api/v1/audit").items()) {
    const object& row = entry.as_object();
    said.push_back(std::string(row.at("actor").as_string()) + " " +
                   std::string(row.at("action").as_string()) + " " +
                   std::string(row.at("detail").as_string()));
  }
  EXPECT_THAT(said, testing::IsSupersetOf({"adam token_created " + token_ + " of t, viewer",
                                           "adam token_revoked " + token_ + " of t, viewer",
                                           std::string("olga kind_paused work: moving")}));
}

TEST_P(ApiAccess, ForceIsOnlyForTokensThatWouldLockTheDoor) {
  EXPECT_EQ(call(Method::kDelete, "/api/v1/tokens/" + token_ + "?force=maybe").status, 422);
  EXPECT_EQ(call(Method::kDelete, "/api/v1/tokens/" + token_ + "?by=force").status, 422);
  EXPECT_EQ(call(Method::kDelete, "/api/v1/tokens/" + token_ + "?force=true").status, 204);
}

INSTANTIATE_TEST_SUITE_P(Stores, ApiAccess, testing::ValuesIn(kStores), store_name);

}  // namespace
}  // namespace recourse::app

// Cases over the wire: who looks after what waits for a person.
#include "base/clock.h"
#include "base/rfc3339.h"
#include "tests/server_fixture.h"

namespace recourse::app {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

class ApiCases : public ApiTest {
 protected:
  void SetUp() override {
    start("  work: {type: worker}\n", "notify: {reminders: {interval: 1h}}\n");
  }

  std::string dead_letter(const std::string& tenant = "mine") {
    const std::string id = submit(R"({"kind":"work","payload":1,"tenant":")" + tenant + R"("})");
    const std::string ticket = ticket_of(lease_one());
    const Reply failed =
        post("/api/v1/leases/fail",
             R"({"ticket":")" + ticket + R"(","outcome":"dead","reason":"no bank"})");
    EXPECT_EQ(failed.status, 200) << failed.body;
    return id;
  }
  static std::string path_of(const std::string& id, const std::string& verb = "") {
    return "/api/v1/tasks/" + id + "/case" + (verb.empty() ? "" : "/" + verb);
  }
  // The newest first, as `actor action detail`.
  std::vector<std::string> audit_of(const std::string& id) {
    std::vector<std::string> said;
    for (const auto& entry : get("/api/v1/tasks/" + id + "/audit").items()) {
      said.push_back(std::string(entry.at("actor").as_string()) + " " +
                     std::string(entry.at("action").as_string()) + " " +
                     std::string(entry.at("detail").as_string()));
    }
    return said;
  }
  std::vector<std::string> listed(const std::string& query, const std::string& who = "VIEWER") {
    std::vector<std::string> ids;
    for (const auto& item : get("/api/v1/cases" + query, who).items()) {
      ids.emplace_back(item.at("task").as_string());
    }
    return ids;
  }
};

TEST_P(ApiCases, ShowsWhatWaitsWithItsTask) {
  const std::string id = dead_letter();

  const Reply shown = get(path_of(id), "VIEWER");

  ASSERT_EQ(shown.status, 200) << shown.body;
  EXPECT_EQ(shown.text("task"), id);
  EXPECT_EQ(shown.text("kind"), "work");
  EXPECT_EQ(shown.text("tenant"), "mine");
  EXPECT_EQ(shown.text("state"), "dead");
  EXPECT_THAT(std::string(shown.json().at("last_error").at("message").as_string()),
              HasSubstr("no bank"));
  EXPECT_TRUE(shown.json().at("assignee").is_null());
  EXPECT_TRUE(shown.json().at("remind_at").is_string());
  EXPECT_EQ(listed(""), std::vector{id});
}

TEST_P(ApiCases, WhoTakesOneIsRemindedNoMoreUnlessItIsDue) {
  const std::string id = dead_letter();

  const Reply taken = post(path_of(id, "take"), R"({"note":"asks the bank"})", "OPERATOR");
  ASSERT_EQ(taken.status, 200) << taken.body;
  EXPECT_EQ(taken.text("assignee"), "olga") << "whoever calls";
  EXPECT_TRUE(taken.json().at("remind_at").is_null());

  const std::string due = "2099-01-02T03:04:05Z";
  const Reply given = post(path_of(id, "take"), R"({"assignee":"bob","due_at":")" + due + R"("})");
  EXPECT_EQ(given.text("assignee"), "bob");
  EXPECT_EQ(given.text("remind_at"), due);

  const TimePoint before = SystemClock().now();
  const Reply soon = post(path_of(id, "take"), R"({"assignee":"bob","due_in":"2h"})");
  const Result<TimePoint> at = parse_rfc3339("remind_at", soon.text("remind_at"));
  ASSERT_TRUE(at) << soon.body;
  EXPECT_GT(*at, before + 119min);
  EXPECT_LT(*at, before + 121min);

  const Reply back = post(path_of(id, "give-back"), R"({"note":"on leave"})", "MINE");
  EXPECT_TRUE(back.json().at("assignee").is_null()) << back.body;
  EXPECT_TRUE(back.json().at("remind_at").is_string());
  const std::vector<std::string> said = audit_of(id);
  ASSERT_GE(said.size(), 4U);
  EXPECT_EQ(said[0], "mina give_back on leave");
  EXPECT_EQ(said[2], "adam hand_over bob, due " + due);
  EXPECT_EQ(said[3], "olga take olga: asks the bank");
}

TEST_P(ApiCases, NotesAreKeptWithTheirAuthor) {
  const std::string id = dead_letter();
  const Reply noted =
      post(path_of(id, "note"), R"({"note":"the bank answers tomorrow"})", "OPERATOR");
  ASSERT_EQ(noted.status, 200) << noted.body;
  EXPECT_TRUE(noted.json().at("assignee").is_null()) << "nothing else changes";
  EXPECT_EQ(audit_of(id).front(), "olga note the bank answers tomorrow");
}

TEST_P(ApiCases, AreListedByWhoHasThem) {
  const std::string first = dead_letter();
  const std::string second = dead_letter();
  const std::string third = dead_letter();
  ASSERT_EQ(post(path_of(second, "take"), R"({"assignee":"bob"})").status, 200);

  EXPECT_THAT(listed("?assignee=bob"), ElementsAre(second));
  EXPECT_THAT(listed("?assignee=none"), ElementsAre(first, third));
  EXPECT_THAT(listed("?assignee=carol"), IsEmpty());
  const Reply page = get("/api/v1/cases?limit=2");
  EXPECT_THAT(page.items(), SizeIs(2));
  const Reply rest = get("/api/v1/cases?limit=2&cursor=" + page.text("next_cursor"));
  ASSERT_THAT(rest.items(), SizeIs(1));
  EXPECT_EQ(rest.items().front().at("task").as_string(), third);
  EXPECT_TRUE(rest.json().at("next_cursor").is_null());
  for (const char* bad : {"?assignee=", "?limit=0", "?cursor=1", "?state=dead"}) {
    EXPECT_EQ(get(std::string("/api/v1/cases") + bad).status, 422) << bad;
  }
}

TEST_P(ApiCases, OfAnotherTenantDoNotExist) {
  const std::string ours = dead_letter("mine");
  const std::string theirs = dead_letter("other");

  EXPECT_THAT(listed("", "MINE"), ElementsAre(ours));
  EXPECT_THAT(listed("?limit=1", "FOREIGN"), ElementsAre(theirs)) << "beyond those of others";
  EXPECT_EQ(get(path_of(ours), "FOREIGN").status, 404);
  for (const char* verb : {"take", "give-back", "note"}) {
    EXPECT_EQ(post(path_of(ours, verb), R"({"note":"mine now"})", "FOREIGN").status, 404) << verb;
    EXPECT_EQ(post(path_of(ours, verb), R"({"note":"mine now"})", "VIEWER").status, 403) << verb;
  }
  EXPECT_THAT(audit_of(ours), SizeIs(1)) << "only that it died";
}

TEST_P(ApiCases, SayWhyThereIsNone) {
  const std::string waiting = submit(R"({"kind":"nobody"})");
  const Reply early = post(path_of(waiting, "take"));
  EXPECT_EQ(early.status, 404);
  EXPECT_THAT(early.text("detail"), HasSubstr("is pending: it has not escalated"));

  const std::string settled = dead_letter();
  ASSERT_EQ(post("/api/v1/tasks/" + settled + "/resolve").status, 200);
  for (const char* verb : {"", "note"}) {
    const Reply late = *verb == '\0' ? get(path_of(settled))
                                     : post(path_of(settled, verb), R"({"note":"too late"})");
    EXPECT_EQ(late.status, 404);
    EXPECT_THAT(late.text("detail"), HasSubstr("is resolved: it is finished"));
  }
  EXPECT_EQ(get("/api/v1/tasks/tsk_00000000000000000000000001/case").status, 404);
  EXPECT_THAT(listed(""), IsEmpty());
}

TEST_P(ApiCases, RefuseWhatCannotBe) {
  const std::string id = dead_letter();
  const std::pair<const char*, const char*> wrong[] = {
      {R"({"assignee":""})", "/assignee"},
      {R"({"assignee":"none"})", "/assignee"},
      {R"({"assignee":"a\nb"})", "/assignee"},
      {R"({"assignee":7})", "/assignee"},
      {R"({"due_at":"tomorrow"})", "/due_at"},
      {R"({"due_at":"2001-01-01T00:00:00Z"})", "/due_at"},
      {R"({"due_in":"soon"})", "/due_in"},
      {R"({"due_in":"1h","due_at":"2099-01-01T00:00:00Z"})", "/due_in"},
      {R"({"reason":"typo"})", "/reason"},
  };
  for (const auto& [body, pointer] : wrong) {
    const Reply reply = post(path_of(id, "take"), body);
    ASSERT_EQ(reply.status, 422) << body;
    EXPECT_EQ(reply.json().at("errors").at(0).at("pointer").as_string(), pointer) << body;
  }
  const std::string long_note = R"({"note":")" + std::string(1'001, 'a') + R"("})";
  for (const char* verb : {"take", "give-back", "note"}) {
    EXPECT_EQ(post(path_of(id, verb), long_note).status, 422) << verb;
    EXPECT_EQ(post(path_of(id, verb), "{").status, 400) << verb;
  }
  EXPECT_EQ(post(path_of(id, "note"), "{}").status, 422);
  EXPECT_EQ(post(path_of(id, "note"), R"({"note":""})").status, 422);
  EXPECT_EQ(post(path_of(id, "give-back"), R"({"assignee":"bob"})").status, 422);
  EXPECT_TRUE(get(path_of(id)).json().at("assignee").is_null());
}

INSTANTIATE_TEST_SUITE_P(Stores, ApiCases, testing::ValuesIn(kStores), store_name);

}  // namespace
}  // namespace recourse::app

// Channels over the wire: what they have sent, and trying them out. NOTE-3, NOTE-5
#include <fstream>

#include "http/test_server.h"
#include "tests/server_fixture.h"

namespace recourse::app {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::SizeIs;

http::TestServer::Script answers(int status) {
  return [status](const http::TestServer::Seen&) {
    return http::TestServer::Reply{.bytes = http::TestServer::answer(status)};
  };
}

class ApiNotify : public ApiTest {
 protected:
  // Two hooks: one that takes what it is sent, and one where nobody is.
  void start_with(http::TestServer& hook, const std::string& more = "") {
    start("  work: {type: worker}\n",
          "notify:\n  channels:\n    hook: {type: webhook, url: 'file:" +
              file_with("hook", hook.url("/hook")) + "'}\n    gone: {type: webhook, url: 'file:" +
              file_with("gone", "http://127.0.0.1:1/canary-path") + "'}\n" + more);
  }
  std::string file_with(const std::string& name, const std::string& text) {
    const std::string path = (folder_ / name).string();
    std::ofstream(path) << text;
    std::filesystem::permissions(path, std::filesystem::perms::owner_read);
    return path;
  }
  std::string dead_letter(const std::string& tenant = "mine") {
    const std::string id = submit(R"({"kind":"work","payload":1,"tenant":")" + tenant + R"("})");
    const std::string ticket = ticket_of(lease_one());
    const Reply failed = post("/api/v1/leases/fail",
                              R"({"ticket":")" + ticket + R"(","outcome":"dead","reason":"no"})");
    EXPECT_EQ(failed.status, 200) << failed.body;
    return id;
  }
  object channel(const std::string& name) {
    for (const value& item : get("/api/v1/notifications/channels", "VIEWER").items()) {
      if (item.at("name").as_string() == std::string_view(name)) return item.as_object();
    }
    ADD_FAILURE() << "no channel " << name;
    return {};
  }
  Reply test(const std::string& name, const std::string& body = "",
             const std::string& who = "OPERATOR") {
    return post("/api/v1/notifications/channels/" + name + "/test", body, who);
  }
};

TEST_P(ApiNotify, ATestMessageArrivesAndIsNotCounted) {
  http::TestServer hook(answers(200));
  start_with(hook);

  const Reply sent = test("hook", R"({"text":"Is this the right room?"})");

  ASSERT_EQ(sent.status, 200) << sent.body;
  EXPECT_TRUE(sent.json().at("sent").as_bool());
  ASSERT_THAT(hook.seen(), SizeIs(1));
  EXPECT_THAT(hook.seen().front().body,
              AllOf(HasSubstr("recourse.notice.test"), HasSubstr("Is this the right room?"),
                    HasSubstr("olga")));
  EXPECT_EQ(channel("hook").at("sent").to_number<int>(), 0);
  EXPECT_EQ(test("log").status, 200);
  EXPECT_THAT(log_.lines(), testing::Contains(HasSubstr("notification_tested")));
}

TEST_P(ApiNotify, AChannelThatFailsSaysWhyWithoutItsAddress) {
  http::TestServer hook(answers(401));
  start_with(hook);

  const Reply refused = test("hook");
  EXPECT_EQ(refused.status, 502);
  EXPECT_THAT(refused.text("detail"), HasSubstr("401"));
  const Reply gone = test("gone");
  EXPECT_EQ(gone.status, 502);
  EXPECT_THAT(gone.text("detail"), testing::Not(HasSubstr("canary-path")));
}

TEST_P(ApiNotify, RefusesWhatCannotBe) {
  http::TestServer hook(answers(200));
  start_with(hook);

  const Reply unknown = test("hok");
  EXPECT_EQ(unknown.status, 404);
  EXPECT_THAT(unknown.text("detail"), HasSubstr("there are: log, gone, hook"));
  EXPECT_EQ(test("hook", R"({"txt":"a"})").status, 422);
  EXPECT_EQ(test("hook", R"({"text":")" + std::string(1'001, 'a') + R"("})").status, 422);
  EXPECT_EQ(test("hook", "[]").status, 400);
  EXPECT_EQ(test("hook", "", "VIEWER").status, 403);
  EXPECT_EQ(test("hook", "", "MINE").status, 403) << "channels are everybody's";
  EXPECT_EQ(get("/api/v1/notifications/channels", "MINE").status, 403);
  EXPECT_THAT(hook.seen(), SizeIs(0));
}

TEST_P(ApiNotify, CountsWhatBecameOfNoticesByChannel) {
  http::TestServer hook(answers(200));
  start_with(hook, "  rules:\n    - {name: dead, events: [dead_letter], channels: [hook, gone]}\n");
  (void)dead_letter();

  // Told by threads of their own.
  ASSERT_TRUE(eventually(
      [&] { return channel("hook").at("sent") == 1 && channel("gone").at("failed") == 1; }));
  EXPECT_EQ(channel("hook").at("type"), "webhook");
  EXPECT_EQ(channel("log").at("type"), "log");
  EXPECT_EQ(channel("hook").at("breaker"), "closed");
  const std::string metrics = get("/metrics", "VIEWER").body;
  EXPECT_THAT(
      metrics,
      AllOf(HasSubstr(R"(recourse_notifications_total{channel="hook",result="sent"} 1)"),
            HasSubstr(R"(recourse_notifications_total{channel="gone",result="failed"} 1)"),
            HasSubstr(R"(recourse_notifications_total{channel="log",result="suppressed"} 0)"),
            HasSubstr("recourse_notifications_out 0")));
}

TEST_P(ApiNotify, SwitchedOffThereIsNothingToTry) {
  start("  work: {type: worker}\n", "", ", notify: {enabled: false}");
  const Reply channels = get("/api/v1/notifications/channels");
  EXPECT_FALSE(channels.json().at("enabled").as_bool());
  EXPECT_THAT(channels.items(), SizeIs(0));
  const Reply refused = test("log");
  EXPECT_EQ(refused.status, 409);
  EXPECT_THAT(refused.text("detail"), HasSubstr("retry.notify.enabled"));
  EXPECT_THAT(get("/metrics").body, HasSubstr("recourse_notifications_out 0"));
}

INSTANTIATE_TEST_SUITE_P(Stores, ApiNotify, testing::ValuesIn(kStores), store_name);

}  // namespace
}  // namespace recourse::app

// Notifications over the wire: channels, trying them out, and what became of notices. NOTE-3,
// NOTE-5
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
  void start_with(http::TestServer& hook, const std::string& more = "",
                  const std::string& retry = "") {
    start("  broken: {type: exec, command: [/bin/false]}\n",
          "notify:\n  channels:\n    hook: {type: webhook, url: 'file:" +
              file_with("hook", hook.url("/hook")) + "'}\n    gone: {type: webhook, url: 'file:" +
              file_with("gone", "http://127.0.0.1:1/canary-path") + "'}\n" + more,
          retry);
  }
  std::string file_with(const std::string& name, const std::string& text) {
    const std::string path = (folder_ / name).string();
    std::ofstream(path) << text;
    return path;
  }
  // Of a kind that this node runs, so that it knows at once.
  std::string dead_letter(const std::string& tenant = "mine") {
    const std::string id = submit(R"({"kind":"broken","tenant":")" + tenant + R"("})");
    EXPECT_TRUE(eventually([&] { return state_of(id) == "dead"; }));
    return id;
  }
  object channel(const std::string& name) {
    for (const value& item : get("/api/v1/notifications/channels", "VIEWER").items()) {
      if (item.at("name").as_string() == std::string_view(name)) return item.as_object();
    }
    ADD_FAILURE() << "no channel " << name;
    return {};
  }
  array deliveries(const std::string& query, const std::string& who = "VIEWER") {
    return get("/api/v1/notifications/deliveries" + query, who).items();
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

TEST_P(ApiNotify, ListsWhatBecameOfEachNotice) {
  http::TestServer hook(answers(200));
  start_with(hook, "  rules:\n    - {name: dead, events: [dead_letter], channels: [hook, gone]}\n");
  const std::string id = dead_letter("mine");
  // Written about once a second.
  ASSERT_TRUE(eventually([&] { return deliveries("?task=" + id).size() == 2; }));

  const object sent = deliveries("?channel=hook&result=sent&event=dead_letter").at(0).as_object();
  EXPECT_EQ(sent.at("task").as_string(), std::string_view(id));
  EXPECT_EQ(sent.at("tenant"), "mine");
  EXPECT_EQ(sent.at("kind"), "broken");
  EXPECT_EQ(sent.at("count"), 1);
  EXPECT_EQ(sent.at("tries"), 1);
  EXPECT_TRUE(sent.at("notice").is_string());
  EXPECT_FALSE(sent.at("node").as_string().empty());
  const object failed = deliveries("?result=failed").at(0).as_object();
  EXPECT_EQ(failed.at("channel"), "gone");
  EXPECT_EQ(failed.at("tries"), 3);
  EXPECT_FALSE(failed.at("error").as_string().empty());
  EXPECT_THAT(boost::json::serialize(failed), testing::Not(HasSubstr("canary-path")));
  EXPECT_THAT(deliveries("?channel=log&event=dead_letter"), SizeIs(0));
}

TEST_P(ApiNotify, DeliveriesComeInPagesAndByTenant) {
  http::TestServer hook(answers(200));
  start_with(hook, "  rules:\n    - {name: dead, events: [dead_letter], channels: [hook]}\n");
  const std::string ours = dead_letter("mine");
  const std::string theirs = dead_letter("other");
  ASSERT_TRUE(eventually([&] { return deliveries("?channel=hook").size() == 2; }));

  std::vector<std::string> seen;
  std::string cursor;
  do {
    const Reply page = get("/api/v1/notifications/deliveries?channel=hook&limit=1" +
                           (cursor.empty() ? "" : "&cursor=" + cursor));
    for (const value& item : page.items()) seen.emplace_back(item.at("task").as_string());
    const value next = page.json().at("next_cursor");
    cursor = next.is_null() ? "" : std::string(next.as_string());
  } while (!cursor.empty());
  EXPECT_THAT(seen, testing::UnorderedElementsAre(ours, theirs)) << "each once";
  EXPECT_THAT(deliveries("", "MINE"), SizeIs(1)) << "those of their tenant";
  EXPECT_THAT(deliveries("?task=" + ours, "FOREIGN"), SizeIs(0));
  for (const char* bad :
       {"?result=lost", "?event=death", "?task=1", "?cursor=1", "?limit=0", "?state=dead",
        "?cursor=00000000000000000000000000000000000000000000.x"}) {
    EXPECT_EQ(get(std::string("/api/v1/notifications/deliveries") + bad).status, 422) << bad;
  }
}

TEST_P(ApiNotify, WhatWasSuppressedIsSummedUpAndCounted) {
  http::TestServer hook(answers(200));
  start_with(hook, "  rules:\n    - {name: dead, events: [dead_letter], channels: [hook]}\n",
             ", notify: {rate-limit: {threshold: 1, window: 1h}}");
  for (int i = 0; i < 4; ++i) (void)dead_letter();
  const auto suppressed = [&] {
    std::int64_t sum = 0;
    for (const value& item : deliveries("?result=suppressed&channel=hook")) {
      sum += item.at("count").to_number<std::int64_t>();
    }
    return sum;
  };
  ASSERT_TRUE(eventually([&] { return suppressed() >= 3; }));
  EXPECT_THAT(deliveries("?result=sent&channel=hook"), SizeIs(1));
  EXPECT_EQ(channel("hook").at("suppressed").to_number<std::int64_t>(), suppressed());
}

TEST_P(ApiNotify, ARestartLosesNoDelivery) {
  if (std::string(GetParam()) == "memory") GTEST_SKIP() << "it forgets";
  http::TestServer hook(answers(200));
  const std::string rules =
      "  rules:\n    - {name: dead, events: [dead_letter], channels: [hook]}\n";
  start_with(hook, rules);
  const std::string id = dead_letter();
  ASSERT_TRUE(eventually([&] { return channel("hook").at("sent") == 1; }));
  // Before its page was written.
  (void)server_->stop(5s);
  server_.reset();
  start_with(hook, rules);
  EXPECT_THAT(deliveries("?task=" + id), SizeIs(1));
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

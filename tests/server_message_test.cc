// The whole message door: a server with sources on real brokers, whose messages go to an HTTP
// service.
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <mutex>

#include "http/test_server.h"
#include "message/open_source.h"
#include "tests/server_fixture.h"

namespace recourse::app {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::SizeIs;

// What the service behind the kind was asked.
struct Asked {
  std::string body;
  std::chrono::steady_clock::time_point at;
};

// A broker's name and, after the dot, where the server keeps its tasks; see ApiTest.
class ServerMessages : public ApiTest {
 protected:
  ServerMessages() {
    static std::atomic<int> count = 0;
    topic_ = "server." + std::to_string(::getpid()) + "." + std::to_string(++count);
    environment_["RABBITMQ"] = variable("RECOURSE_TEST_RABBITMQ");
    environment_["REDIS"] = variable("RECOURSE_TEST_REDIS");
    service_ = std::make_unique<http::TestServer>(
        [this](const http::TestServer::Seen& seen) { return answer(seen); });
  }
  ~ServerMessages() override {
    server_.reset();
    service_.reset();
  }

  static std::string variable(const char* name) {
    const char* value = std::getenv(name);
    return value == nullptr ? "" : value;
  }

  // `more` goes on in the source's map.
  void start_source(const std::string& broker, const std::string& more = "",
                    const std::string& kind = "") {
    start("  bill: {url: '" + service_->url("/bill") + "'" + kind + "}\n",
          "messages:\n  sources:\n    orders: {url: 'env:" + broker + "', topic: '" + topic_ +
              "', group: billing, kind: bill, heartbeat: 2s, reconnect-max: 1s" +
              (broker == "RABBITMQ" ? ", rabbitmq: {declare: true}" : "") + more + "}\n");
  }
  // As others do it.
  void publish(const std::string& broker, const std::vector<message::Outgoing>& messages) {
    message::SourceSettings settings{
        .name = "publisher", .url = environment_.at(broker), .topic = topic_, .group = "publisher"};
    settings.rabbitmq.declare = true;
    auto source = message::open_source(settings, log_);
    ASSERT_TRUE(source) << source.error().message;
    const auto published = (*source)->publish(messages, std::chrono::steady_clock::now() + 20s);
    ASSERT_TRUE(published) << published.error().message;
  }
  [[nodiscard]] message::Outgoing message_of(const std::string& id, const std::string& body) const {
    return {.topic = topic_, .key = "", .id = id, .headers = {}, .body = body};
  }
  value source() { return get("/api/v1/messages/sources").items().at(0); }
  bool becomes(const std::string& id, const std::string& status) {
    return eventually(
        [&] {
          const array found = get("/api/v1/messages?message_id=" + id).items();
          return found.size() == 1 && found[0].at("status") == boost::json::string(status);
        },
        60s);
  }
  std::vector<Asked> asked() {
    const std::lock_guard lock(mutex_);
    return asked_;
  }
  bool logged(const std::string& event, const std::string& text = "") {
    return std::ranges::any_of(log_.lines(), [&](const std::string& line) {
      return line.find(event) != std::string::npos && line.find(text) != std::string::npos;
    });
  }

  std::string topic_;
  std::unique_ptr<http::TestServer> service_;

 private:
  // Bodies with "poison" are never taken, those with "later" from the third time on.
  http::TestServer::Reply answer(const http::TestServer::Seen& seen) {
    const std::lock_guard lock(mutex_);
    asked_.push_back({seen.body, std::chrono::steady_clock::now()});
    const auto times = std::ranges::count(asked_, seen.body, &Asked::body);
    const bool refuses = seen.body.find("poison") != std::string::npos ||
                         (seen.body.find("later") != std::string::npos && times < 3);
    return {http::TestServer::answer(refuses ? 503 : 200, "")};
  }

  std::mutex mutex_;
  std::vector<Asked> asked_;
};

class OnRabbitmq : public ServerMessages {};
class OnRedis : public ServerMessages {};

// MSG-1, I12: published twice under one id it is one message.
TEST_P(OnRabbitmq, AMessageFlowsToTheServiceOnce) {
  start_source("RABBITMQ");
  ASSERT_TRUE(eventually([&] { return source().at("connected").as_bool(); }));

  publish("RABBITMQ", {message_of("m-1", "{\"n\": 1}"), message_of("m-1", "{\"n\": 1}"),
                       message_of("m-2", "{\"n\": 2}")});

  EXPECT_TRUE(becomes("m-1", "PROCESSED"));
  EXPECT_TRUE(becomes("m-2", "PROCESSED"));
  EXPECT_THAT(asked(), SizeIs(2));
  ASSERT_TRUE(eventually([&] { return source().at("acknowledged") == 3; }));
  EXPECT_EQ(source().at("received"), 3);
  EXPECT_EQ(source().at("trouble"), "");
  EXPECT_EQ(source().at("broker"), "RabbitMQ");
  const std::string metrics = get("/metrics").body;
  EXPECT_THAT(metrics, HasSubstr("recourse_message_received_total{source=\"orders\"} 3"));
  EXPECT_THAT(metrics, HasSubstr("recourse_message_acknowledged_total{source=\"orders\"} 3"));
  EXPECT_THAT(metrics, HasSubstr("recourse_message_source_connected{source=\"orders\"} 1"));
  EXPECT_THAT(metrics, HasSubstr("recourse_messages{status=\"PROCESSED\"} 2"));
}

// MSG-6, MSG-13: retries come at their times.
TEST_P(OnRedis, AFailedMessageIsRetriedAtItsTimes) {
  start_source("REDIS");
  publish("REDIS", {message_of("m-1", "later")});

  ASSERT_TRUE(becomes("m-1", "PROCESSED"));

  const std::vector<Asked> calls = asked();
  ASSERT_THAT(calls, SizeIs(3));
  EXPECT_GE(calls[1].at - calls[0].at, 1s);
  EXPECT_GE(calls[2].at - calls[1].at, 2s);
  const std::string id(get("/api/v1/messages?message_id=m-1").items().at(0).at("id").as_string());
  const array history = get("/api/v1/messages/" + id + "/history").items();
  ASSERT_THAT(history, SizeIs(3));
  EXPECT_EQ(history[0].at("error_code"), "HTTP_503");
  EXPECT_EQ(history[0].at("retry_delay"), 1000);
  EXPECT_EQ(history[1].at("retry_delay"), 2000);
  EXPECT_EQ(history[2].at("result"), "SUCCESS");
  EXPECT_TRUE(logged("message_consume_failed", "m-1"));
  EXPECT_TRUE(logged("message_retry_started", "m-1"));
  EXPECT_TRUE(logged("message_retry_finished", "succeeded"));
}

// MSG-8, and poison holds up nobody.
TEST_P(OnRabbitmq, PoisonEndsWithAPersonAndOthersPassIt) {
  start_source("RABBITMQ", "", ", backoff: {base: 1ms, min: 1ms, max: 2ms}, breaker: false");
  std::vector<message::Outgoing> messages{message_of("bad", "poison")};
  for (int i = 0; i < 20; ++i) messages.push_back(message_of("good-" + std::to_string(i), "ok"));
  publish("RABBITMQ", messages);

  EXPECT_TRUE(becomes("bad", "PENDING"));
  EXPECT_TRUE(
      eventually([&] { return get("/api/v1/messages?status=PROCESSED").items().size() == 20; }));

  const auto times = std::ranges::count(asked(), std::string("poison"), &Asked::body);
  EXPECT_EQ(times, 6) << "once, and five retries";
  EXPECT_TRUE(logged("message_gave_up", "bad"));
  EXPECT_EQ(source().at("acknowledged"), 21) << "it is on the record: the broker may forget it";
  EXPECT_THAT(get("/api/v1/cases").items(), SizeIs(1));
}

// MSG-1: a body that cannot be read is never handed to the service.
TEST_P(OnRedis, ABodyThatIsNoJsonGoesStraightToAPerson) {
  start_source("REDIS", ", format: json");
  publish("REDIS", {message_of("m-1", "no json"), message_of("m-2", "{}")});

  EXPECT_TRUE(becomes("m-1", "PENDING"));
  EXPECT_TRUE(becomes("m-2", "PROCESSED"));
  EXPECT_THAT(asked(), SizeIs(1));
  EXPECT_EQ(get("/api/v1/messages?message_id=m-1").items().at(0).at("error_code"), "SERDE_ERROR");
}

TEST_P(OnRedis, ABodyThatIsNoJsonIsNotHandedToTheServiceByARetryEither) {
  start_source("REDIS", ", format: json");
  publish("REDIS", {message_of("m-1", "no json")});
  ASSERT_TRUE(becomes("m-1", "PENDING"));
  const std::string id(get("/api/v1/messages?message_id=m-1").items().at(0).at("id").as_string());
  const auto attempts = [&] { return get("/api/v1/messages/" + id).json().at("attempts"); };

  ASSERT_EQ(post("/api/v1/messages/" + id + "/retry").status, 200);

  ASSERT_TRUE(eventually([&] { return attempts() == 2; }));
  EXPECT_TRUE(becomes("m-1", "PENDING"));
  EXPECT_EQ(get("/api/v1/messages/" + id).text("error_code"), "SERDE_ERROR");
  EXPECT_THAT(asked(), IsEmpty());
  EXPECT_TRUE(logged("message_gave_up", "m-1"));

  ASSERT_EQ(call(http::Method::kPatch, "/api/v1/tasks/" + id, R"({"payload": {"n": 1}})").status,
            200);
  ASSERT_EQ(post("/api/v1/messages/" + id + "/retry").status, 200);

  EXPECT_TRUE(becomes("m-1", "PROCESSED"));
  EXPECT_THAT(asked(), SizeIs(1));
}

TEST_P(OnRedis, ABrokerThatIsAwayStopsNobodyElse) {
  environment_["REDIS"] = "redis://127.0.0.1:1/0";
  start_source("REDIS");

  EXPECT_TRUE(eventually([&] { return source().at("trouble") != ""; }));
  EXPECT_EQ(source().at("connected"), false);
  EXPECT_EQ(get("/readyz").status, 200) << "all else goes on";
  EXPECT_THAT(get("/readyz?verbose").body, HasSubstr("message source orders: "));
  EXPECT_THAT(get("/readyz?verbose").body, Not(HasSubstr("orders: connected")));
  EXPECT_THAT(get("/metrics").body,
              HasSubstr("recourse_message_source_connected{source=\"orders\"} 0"));
  const std::string id = submit(R"({"kind":"bill","payload":7})");
  EXPECT_TRUE(eventually([&] { return state_of(id) == "succeeded"; }));
}

TEST_P(OnRabbitmq, AWrongPasswordIsShownWithoutItself) {
  std::string url = environment_["RABBITMQ"];
  const std::size_t begin = url.find("://") + 3;
  const std::size_t at = url.rfind('@');
  url = url.substr(0, begin) + "joe:canary-password@" +
        url.substr(at == std::string::npos ? begin : at + 1);
  environment_["RABBITMQ"] = url;
  start_source("RABBITMQ");

  ASSERT_TRUE(eventually([&] { return source().at("trouble") != ""; }));

  EXPECT_THAT(boost::json::serialize(source()), Not(HasSubstr("canary-password")));
  for (const std::string& line : log_.lines()) {
    EXPECT_THAT(line, Not(HasSubstr("canary-password")));
  }
}

// While too much waits, the broker keeps the rest.
TEST_P(OnRedis, NothingIsTakenWhileTheBacklogIsFull) {
  start_source("REDIS", ", backlog-limit: 1, batch: 1, prefetch: 1");
  ASSERT_EQ(post("/api/v1/kinds/bill/pause").status, 200);
  publish("REDIS", {message_of("m-1", "1")});
  ASSERT_TRUE(becomes("m-1", "RETRYING"));
  ASSERT_TRUE(eventually([&] { return source().at("is_full").as_bool(); }));

  ASSERT_EQ(post("/api/v1/kinds/bill/resume").status, 200);

  EXPECT_TRUE(becomes("m-1", "PROCESSED"));
  publish("REDIS", {message_of("m-2", "2")});
  EXPECT_TRUE(becomes("m-2", "PROCESSED"));
  EXPECT_TRUE(eventually([&] { return !source().at("is_full").as_bool(); }));
}

TEST_P(OnRedis, AnEntryWithoutABodyGoesToAPersonAndNotToTheService) {
  start_source("REDIS", ", redis: {body-field: data}");

  publish("REDIS", {message_of("m-1", "1")});

  ASSERT_TRUE(becomes("m-1", "PENDING"));
  EXPECT_THAT(get("/api/v1/messages?message_id=m-1").body,
              HasSubstr("the entry has no field data; it has: body"));
}

// Otherwise a tenant's words would go to the source's broker, and its marks be forgotten.
TEST_P(OnRedis, NobodyElseRecordsInTheNameOfASource) {
  start_source("REDIS");
  const std::string named = R"("kind":"bill","source":"orders","group":"billing","topic":")" +
                            topic_ + R"(","message_id":"1","error_message":"connection lost")";

  const Reply foreign = post("/api/v1/messages/record", R"({"tenant":"other",)" + named + "}");
  const Reply own = post("/api/v1/messages/record", "{" + named + "}");

  EXPECT_EQ(foreign.status, 422);
  EXPECT_THAT(foreign.body, HasSubstr("is taken by a source of this server"));
  EXPECT_EQ(own.status, 201) << own.body;
}

// Messages of one key wait behind one that failed; those of another do not.
TEST_P(OnRedis, OrderIsKeptWithinAKey) {
  start_source("REDIS", ", order: key");
  std::vector<message::Outgoing> messages{message_of("a-1", "later a-1"), message_of("a-2", "a-2"),
                                          message_of("b-1", "b-1")};
  messages[0].key = messages[1].key = "a";
  messages[2].key = "b";
  publish("REDIS", messages);

  ASSERT_TRUE(becomes("a-2", "PROCESSED"));
  ASSERT_TRUE(becomes("b-1", "PROCESSED"));

  std::vector<std::string> bodies;
  for (const Asked& call : asked()) bodies.push_back(call.body);
  EXPECT_EQ(bodies.back(), "a-2") << "after the third run of the one before it";
  EXPECT_THAT(bodies, SizeIs(5));
  const std::string id(get("/api/v1/messages?message_id=a-2").items().at(0).at("id").as_string());
  EXPECT_THAT(get("/api/v1/messages/" + id + "/history").items(), SizeIs(1))
      << "to wait is no attempt";
}

// Retried by whoever consumes it next; how often is not forgotten.
TEST_P(OnRabbitmq, ARetryIsPublishedWhereTheSourceWantsIt) {
  start_source("RABBITMQ", ", retry-by: publish",
               ", max-retries: 2, backoff: {base: 1ms, min: 1ms, max: 2ms}, breaker: false");
  publish("RABBITMQ", {message_of("bad", "poison")});

  EXPECT_TRUE(eventually(
      [&] {
        const array found = get("/api/v1/messages?message_id=bad&status=PENDING").items();
        return found.size() == 1;
      },
      60s));

  EXPECT_THAT(asked(), SizeIs(3)) << "once, and two retries";
  EXPECT_EQ(source().at("received"), 3) << "each through the broker";
}

// What was not dealt with when the server stopped is there for the next one.
TEST_P(OnRabbitmq, AStopLosesNothing) {
  start_source("RABBITMQ", ", consumers: 3");
  std::vector<message::Outgoing> messages;
  for (int i = 0; i < 200; ++i) messages.push_back(message_of("m-" + std::to_string(i), "ok"));
  publish("RABBITMQ", messages);
  ASSERT_TRUE(eventually([&] { return source().at("received").as_int64() > 0; }));
  (void)server_->stop(10s);
  server_.reset();

  start_source("RABBITMQ");

  // On a store in memory the first server's records are gone; none was acknowledged unrecorded.
  if (std::string(GetParam()) == "memory") return;
  EXPECT_TRUE(eventually(
      [&] { return get("/api/v1/messages/summary").json().at("counts").at("PROCESSED") == 200; },
      60s));
}

INSTANTIATE_TEST_SUITE_P(Stores, OnRabbitmq, testing::ValuesIn(kStores), store_name);
INSTANTIATE_TEST_SUITE_P(Stores, OnRedis, testing::ValuesIn(kStores), store_name);

}  // namespace
}  // namespace recourse::app

#include "runner/http_runner.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <future>
#include <stdexcept>

#include "base/manual_clock.h"
#include "http/test_server.h"
#include "runner/test_attempt.h"

namespace recourse::runner {
namespace {

using namespace std::chrono_literals;
using http::TestServer;
using ::testing::HasSubstr;

TestServer::Script always(std::string bytes) {
  return [bytes = std::move(bytes)](const TestServer::Seen&) {
    return TestServer::Reply{.bytes = bytes};
  };
}

class HttpRunner : public ::testing::Test {
 protected:
  engine::Handler handler(HttpRunnerSettings settings) {
    return bind_http(std::move(settings), *client_, clock_).value().handler;
  }

  ManualClock clock_{TimePoint(1700000000s)};
  std::unique_ptr<http::Client> client_ = http::Client::open({}).value();
};

TEST_F(HttpRunner, PostsThePayloadAsItCameWithAllThatNamesTheAttempt) {
  TestServer server(always(TestServer::answer(204)));
  task::Task task = test_task();
  task.spec.trace_parent = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";

  const auto result = TestAttempt(task).result_of(handler({.url = server.url("/work")}));

  EXPECT_TRUE(succeeded(result));
  const auto seen = server.seen().at(0);
  EXPECT_EQ(seen.method, "POST");
  EXPECT_EQ(seen.target, "/work");
  EXPECT_EQ(seen.body, task.spec.payload);
  const std::string id = "tsk_01ARZ3NDEKTSV4RRFFQ69G5FAV";
  EXPECT_EQ(seen.headers.find("Content-Type"), "application/json");
  EXPECT_EQ(seen.headers.find("Recourse-Task"), id);
  EXPECT_EQ(seen.headers.find("Recourse-Kind"), "grant-points");
  EXPECT_EQ(seen.headers.find("Recourse-Attempt"), "3");
  EXPECT_EQ(seen.headers.find("Recourse-Fence"), "7");
  EXPECT_EQ(seen.headers.find("Recourse-Ticket"), id + "~7~01BX5ZZKBKACTAV9WEVGEMMVRZ");
  EXPECT_EQ(seen.headers.find("Idempotency-Key"), id);
  EXPECT_EQ(seen.headers.find("traceparent"), task.spec.trace_parent);
  EXPECT_EQ(seen.headers.find("webhook-signature"), std::nullopt);
}

TEST_F(HttpRunner, ATasksHeadersAreSentButCannotBeOurs) {
  TestServer server(always(TestServer::answer(200)));
  task::Task task = test_task();
  task.spec.headers = {{"content-type", "text/plain"},   {"X-Own", "1"},
                       {"Authorization", "stolen"},      {"Recourse-Task", "tsk_other"},
                       {"IDEMPOTENCY-KEY", "other"},     {"Host", "other.example"},
                       {"Transfer-Encoding", "chunked"}, {"Connection", "close"},
                       {"Content-Length", "1"},          {"Webhook-Signature", "v1,x"},
                       {"Expect", "100-continue"}};

  const auto result = TestAttempt(task).result_of(
      handler({.url = server.url(), .headers = {{"Authorization", "Bearer ours"}}}));

  EXPECT_TRUE(succeeded(result));
  const auto seen = server.seen().at(0);
  EXPECT_EQ(seen.body, task.spec.payload);
  EXPECT_EQ(seen.headers.find("Content-Type"), "text/plain");
  EXPECT_EQ(seen.headers.find("X-Own"), "1");
  EXPECT_EQ(seen.headers.find("Authorization"), "Bearer ours");
  EXPECT_EQ(seen.headers.find("Recourse-Task"), "tsk_01ARZ3NDEKTSV4RRFFQ69G5FAV");
  EXPECT_EQ(seen.headers.find("Idempotency-Key"), "tsk_01ARZ3NDEKTSV4RRFFQ69G5FAV");
  EXPECT_THAT(std::string(*seen.headers.find("Host")), HasSubstr("127.0.0.1"));
  for (const char* name : {"Transfer-Encoding", "Connection", "Webhook-Signature", "Expect"}) {
    EXPECT_EQ(seen.headers.find(name), std::nullopt) << name;
  }
}

TEST_F(HttpRunner, IsSignedByEveryKey) {
  TestServer server(always(TestServer::answer(200)));
  const http::WebhookKey first = http::WebhookKey::parse("the first secret of some length").value();
  const http::WebhookKey second =
      http::WebhookKey::parse("the second secret of some length").value();

  (void)TestAttempt().result_of(handler({.url = server.url(), .keys = {first, second}}));

  const auto seen = server.seen().at(0);
  const http::WebhookParts parts{.id = *seen.headers.find("webhook-id"),
                                 .timestamp = *seen.headers.find("webhook-timestamp"),
                                 .body = seen.body};
  EXPECT_EQ(parts.id, "tsk_01ARZ3NDEKTSV4RRFFQ69G5FAV");
  EXPECT_EQ(parts.timestamp, "1700000000");
  for (const http::WebhookKey& key : {first, second}) {
    EXPECT_TRUE(http::verify_webhook(std::span(&key, 1), parts,
                                     *seen.headers.find("webhook-signature"), clock_.now()));
  }
}

TEST_F(HttpRunner, AnAnswerThatIsARefusalIsHandedToTheRouter) {
  TestServer server(always(TestServer::answer(503, "busy", "Retry-After: 7\r\n")));

  const auto answer =
      failed<policy::HttpAnswer>(TestAttempt().result_of(handler({.url = server.url()})));

  EXPECT_EQ(answer.status, 503);
  EXPECT_EQ(answer.reason, "busy");
  EXPECT_EQ(answer.retry_after, 7s);
}

TEST_F(HttpRunner, ALongAnswerIsAnAnswer) {
  TestServer server(always(TestServer::answer(200, std::string(500'000, 'x'))));

  EXPECT_TRUE(succeeded(TestAttempt().result_of(handler({.url = server.url()}))));
}

TEST_F(HttpRunner, WaitsNoLongerThanTheAttemptsTime) {
  TestServer server([](const TestServer::Seen&) { return TestServer::silence(); });
  task::Task task = test_task();
  task.spec.timeout = 100ms;

  const auto timed_out =
      failed<policy::TimedOut>(TestAttempt(task).result_of(handler({.url = server.url()})));

  EXPECT_EQ(timed_out.limit, 100ms);
}

TEST_F(HttpRunner, NobodyThereIsUnreachable) {
  std::string url;
  {
    TestServer gone(always(""));
    url = gone.url("/?key=s3cret");
  }
  const auto unreachable =
      failed<policy::Unreachable>(TestAttempt().result_of(handler({.url = url})));

  EXPECT_THAT(unreachable.reason, HasSubstr("127.0.0.1"));
  EXPECT_THAT(unreachable.reason, ::testing::Not(HasSubstr("s3cret")));
}

TEST_F(HttpRunner, AnAddressOutOfReachGoesToAPerson) {
  TestServer server(always(TestServer::answer(200)));

  const auto decision = decided(
      TestAttempt().result_of(handler({.url = server.url(), .reach = {.public_only = true}})));

  EXPECT_EQ(decision.outcome, policy::Outcome::kDeadLetter);
  EXPECT_EQ(server.connections(), 0);
}

TEST_F(HttpRunner, AStopCutsTheCallOff) {
  TestServer server([](const TestServer::Seen&) { return TestServer::silence(); });
  TestAttempt attempt;
  attempt.start(handler({.url = server.url()}));
  server.wait_for_open_requests(1);

  attempt.run()->request_stop(engine::StopReason::kCutOff);

  EXPECT_EQ(decided(attempt.result()).code, "TIMEOUT");
}

TEST_F(HttpRunner, AStopBeforeTheStartCutsItOffToo) {
  TestServer server([](const TestServer::Seen&) { return TestServer::silence(); });
  TestAttempt attempt;
  attempt.run()->request_stop(engine::StopReason::kCutOff);

  attempt.start(handler({.url = server.url()}));

  EXPECT_EQ(decided(attempt.result()).code, "TIMEOUT");
}

TEST_F(HttpRunner, TheClientsEndEndsTheAttempt) {
  TestServer server([](const TestServer::Seen&) { return TestServer::silence(); });
  TestAttempt attempt;
  attempt.start(handler({.url = server.url()}));
  server.wait_for_open_requests(1);

  client_.reset();

  EXPECT_EQ(decided(attempt.result()).outcome, policy::Outcome::kRetry);
}

TEST_F(HttpRunner, WhatIsAcceptedIsHandedOver) {
  TestServer server(always(TestServer::answer(202, "", "Recourse-Lease: 600\r\n")));
  const auto result = TestAttempt().result_of(handler({.url = server.url("/pay?key=secret")}));

  const auto& handed = std::get<engine::HandedOver>(result);
  EXPECT_EQ(handed.lease_for, 600s);
  EXPECT_EQ(handed.to.value + "/", server.url("/")) << "and nothing of what may be a secret";
}

TEST_F(HttpRunner, ALeaseIsAsLongAsTheKindAllows) {
  const auto lease_for = [&](const std::string& header) {
    TestServer server(always(TestServer::answer(202, "", header)));
    const auto result = TestAttempt().result_of(
        handler({.url = server.url(), .lease = {.usual = 40s, .longest = 5min}}));
    return std::get<engine::HandedOver>(result).lease_for;
  };

  EXPECT_EQ(lease_for(""), 40s);
  EXPECT_EQ(lease_for("Recourse-Lease: 2m\r\n"), 2min);
  EXPECT_EQ(lease_for("Recourse-Lease: 3600\r\n"), 5min);
  EXPECT_EQ(lease_for("Recourse-Lease: 0\r\n"), 1s);
  EXPECT_EQ(lease_for("Recourse-Lease: soon\r\n"), 40s);
}

class HttpRunnerProbe : public HttpRunner {
 protected:
  // Answers what the probe is to get; the work itself is done.
  TestServer::Script probe_answers(std::string bytes) {
    return [bytes = std::move(bytes)](const TestServer::Seen& seen) {
      const bool is_probe = seen.target.starts_with("/probe");
      return TestServer::Reply{.bytes = is_probe ? bytes : TestServer::answer(201)};
    };
  }
  HttpRunnerSettings settings(const TestServer& server) {
    return {.url = server.url("/work"), .probe = HttpProbe{.url = server.url("/probe/{task}")}};
  }
};

TEST_F(HttpRunnerProbe, WhatIsDoneIsNotDoneAgain) {
  TestServer server(probe_answers(TestServer::answer(200)));

  EXPECT_TRUE(succeeded(TestAttempt(test_task(), true).result_of(handler(settings(server)))));

  ASSERT_EQ(server.seen().size(), 1U);
  EXPECT_EQ(server.seen()[0].method, "GET");
  EXPECT_EQ(server.seen()[0].target, "/probe/tsk_01ARZ3NDEKTSV4RRFFQ69G5FAV");
  EXPECT_EQ(server.seen()[0].headers.find("Recourse-Task"), "tsk_01ARZ3NDEKTSV4RRFFQ69G5FAV");
  EXPECT_EQ(server.seen()[0].body, "");
}

TEST_F(HttpRunnerProbe, WhatIsNotDoneIsDoneNow) {
  TestServer server(probe_answers(TestServer::answer(404)));
  HttpRunnerSettings with_payload = settings(server);
  with_payload.probe->method = http::Method::kPost;

  EXPECT_TRUE(succeeded(TestAttempt(test_task(), true).result_of(handler(with_payload))));

  ASSERT_EQ(server.seen().size(), 2U);
  EXPECT_EQ(server.seen()[0].body, test_task().spec.payload);
  EXPECT_EQ(server.seen()[1].target, "/work");
}

TEST_F(HttpRunnerProbe, WhatCannotBeToldIsNotDoneBlindly) {
  TestServer server(probe_answers(TestServer::answer(500, "", "Retry-After: 9\r\n")));

  const auto decision =
      decided(TestAttempt(test_task(), true).result_of(handler(settings(server))));

  EXPECT_EQ(decision.code, "TIMEOUT");
  EXPECT_EQ(decision.retry_after, 9s);
  EXPECT_EQ(server.seen().size(), 1U);
}

TEST_F(HttpRunnerProbe, NobodyAsksWhereItCannotHaveHappened) {
  TestServer server(probe_answers(TestServer::answer(200)));

  EXPECT_TRUE(succeeded(TestAttempt(test_task(), false).result_of(handler(settings(server)))));

  ASSERT_EQ(server.seen().size(), 1U);
  EXPECT_EQ(server.seen()[0].target, "/work");
}

TEST_F(HttpRunnerProbe, TheEngineIsToldThatThereIsOneAndHoldsNoThreadForIt) {
  TestServer server(probe_answers(TestServer::answer(200)));
  const auto bound = bind_http(settings(server), *client_, clock_).value();

  ASSERT_TRUE(bound.probe);
  EXPECT_FALSE(bound.probe(TestAttempt().run()));
  EXPECT_TRUE(server.seen().empty());
  EXPECT_FALSE(bind_http({.url = server.url()}, *client_, clock_).value().probe);
}

TEST_F(HttpRunnerProbe, AStopReachesTheCallAfterTheProbeToo) {
  TestServer server([](const TestServer::Seen& seen) {
    return seen.target == "/work" ? TestServer::silence()
                                  : TestServer::Reply{.bytes = TestServer::answer(404)};
  });
  TestAttempt attempt(test_task(), true);
  attempt.start(handler(settings(server)));
  server.wait_for_open_requests(1);

  attempt.run()->request_stop(engine::StopReason::kCutOff);

  EXPECT_EQ(decided(attempt.result()).code, "TIMEOUT");
}

TEST_F(HttpRunner, SettingsThatCannotWorkAreRefusedByName) {
  const auto error = [&](HttpRunnerSettings settings) {
    const auto bound = bind_http(std::move(settings), *client_, clock_);
    return bound ? std::string("taken") : bound.error().message;
  };
  EXPECT_THAT(error({.url = "ftp://x/"}), HasSubstr("http.url"));
  EXPECT_THAT(error({.url = "http://x/", .headers = {{"Recourse-Task", "x"}}}),
              HasSubstr("Recourse-Task"));
  EXPECT_THAT(error({.url = "http://x/", .reach = {.public_only = true, .allowed = {"x"}}}),
              HasSubstr("reach"));
  EXPECT_THAT(error({.url = "http://x/", .probe = HttpProbe{.url = "nonsense"}}),
              HasSubstr("probe.url"));
}

}  // namespace
}  // namespace recourse::runner

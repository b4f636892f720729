// Runners under a whole engine: what leaves the process, and what it costs to wait for it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "base/clock.h"
#include "base/log.h"
#include "base/ulid.h"
#include "engine/lease_desk.h"
#include "engine/node.h"
#include "http/test_server.h"
#include "runner/http_runner.h"
#include "store/memory/memory_store.h"
#include "task/ticket_text.h"

namespace recourse::tests {
namespace {

using namespace std::chrono_literals;
using http::TestServer;

int threads_of_this_process() {
  using std::filesystem::directory_iterator;
  return static_cast<int>(std::distance(directory_iterator("/proc/self/task"), {}));
}

bool eventually(const std::function<bool()>& holds, Duration within = 30s) {
  const auto until = std::chrono::steady_clock::now() + within;
  while (!holds()) {
    if (std::chrono::steady_clock::now() > until) return false;
    std::this_thread::sleep_for(2ms);
  }
  return true;
}

class RunnerUnderAnEngine : public ::testing::Test {
 protected:
  void start(runner::HttpRunnerSettings settings, int concurrency = 0) {
    runner::HttpBinding bound = runner::bind_http(std::move(settings), *client_, clock_).value();
    engine::KindRules rules;
    rules.settings.asynchronous = true;
    rules.settings.concurrency = concurrency;
    rules.settings.backoff = {.base = 20ms, .min = 10ms, .max = 50ms};
    ASSERT_TRUE(node_->handle("work", std::move(rules), bound.handler, bound.probe));
    ASSERT_TRUE(node_->start());
  }

  task::TaskId submit(Duration timeout = 30s) {
    store::Submission submission;
    submission.id = task::TaskId(ids_.next(clock_.now()));
    submission.spec.kind = task::Kind("work");
    submission.spec.payload = "{}";
    submission.spec.timeout = timeout;
    const auto answer = node_->submit(submission, store::Novelty::kFresh);
    EXPECT_TRUE(answer.result);
    return submission.id;
  }

  bool reaches(const task::TaskId& id, task::State state) {
    return eventually([&] {
      const auto task = opened_->reader().find(id, 1s);
      return task && task->state == state;
    });
  }

  SystemClock clock_;
  NullLog log_;
  UlidSequence ids_{7};
  std::unique_ptr<http::Client> client_ = http::Client::open({}).value();
  std::unique_ptr<store::OpenedStore> opened_ =
      store::memory::open(store::memory::make_data(), clock_);
  std::unique_ptr<engine::Node> node_ =
      std::make_unique<engine::Node>(*opened_, clock_, log_, engine::NodeSettings{}, 42);
};

TEST_F(RunnerUnderAnEngine, ATaskIsRetriedUntilTheUrlTakesIt) {
  std::atomic<int> calls = 0;
  TestServer server([&](const TestServer::Seen&) {
    return TestServer::Reply{.bytes = TestServer::answer(++calls < 3 ? 503 : 200)};
  });
  start({.url = server.url()});

  EXPECT_TRUE(reaches(submit(), task::State::kSucceeded));

  const auto seen = server.seen();
  ASSERT_EQ(seen.size(), 3U);
  EXPECT_EQ(seen[0].headers.find("Recourse-Attempt"), "1");
  EXPECT_EQ(seen[2].headers.find("Recourse-Attempt"), "3");
  EXPECT_EQ(seen[0].headers.find("Idempotency-Key"), seen[2].headers.find("Idempotency-Key"));
  EXPECT_NE(seen[0].headers.find("Recourse-Ticket"), seen[2].headers.find("Recourse-Ticket"));
}

// 202: the service goes on, keeps its lease alive, and reports by the ticket it was called with.
TEST_F(RunnerUnderAnEngine, WhoAnswersLaterReportsByItsTicket) {
  TestServer server([](const TestServer::Seen&) {
    return TestServer::Reply{.bytes = TestServer::answer(202, "", "Recourse-Lease: 600\r\n")};
  });
  start({.url = server.url()});
  engine::LeaseDesk desk(*opened_, node_->kinds(), 1);

  const task::TaskId id = submit();
  ASSERT_TRUE(eventually([&] {
    const auto task = opened_->reader().find(id, 1s);
    return task && task->lease_end;
  }));
  const auto seen = server.seen();
  ASSERT_EQ(seen.size(), 1U);
  const auto ticket = task::parse_ticket("it", *seen[0].headers.find("Recourse-Ticket")).value();
  const store::Held held{.task = ticket.task, .ticket = ticket.ticket};
  const task::Owner owner = opened_->reader().find(id, 1s)->owner.value();
  EXPECT_EQ(task::to_string(owner) + "/", "worker:" + server.url("/"));
  const auto renewed = desk.renew({held}, std::nullopt, clock_.now(), 1s).value().front();
  ASSERT_TRUE(renewed);
  EXPECT_GT(renewed->lease_end, clock_.now() + 9min) << "not less than it had";
  const auto again = desk.report(
      {.held = held, .result = engine::Failed{policy::Declined{"half of it is missing"}}},
      clock_.now(), 1s);
  ASSERT_TRUE(again);
  EXPECT_EQ(again->state, task::State::kPending) << "judged and retried as any other attempt";

  ASSERT_TRUE(eventually([&] { return server.seen().size() == 2; }));
  EXPECT_EQ(server.seen()[1].headers.find("Recourse-Attempt"), "2");
  const auto second =
      task::parse_ticket("it", *server.seen()[1].headers.find("Recourse-Ticket")).value();
  ASSERT_TRUE(eventually([&] { return opened_->reader().find(id, 1s)->lease_end.has_value(); }));
  EXPECT_TRUE(desk.report(
      {.held = {.task = second.task, .ticket = second.ticket}, .result = engine::Succeeded{}},
      clock_.now(), 1s));
  EXPECT_TRUE(reaches(id, task::State::kSucceeded));
  EXPECT_EQ(opened_->reader().find(id, 1s)->attempts, 2);
}

// The work happened, its answer did not come: the probe keeps it from happening twice.
TEST_F(RunnerUnderAnEngine, AfterATimeOutTheProbeIsAskedFirst) {
  TestServer server([](const TestServer::Seen& seen) {
    return seen.method == "GET" ? TestServer::Reply{.bytes = TestServer::answer(200)}
                                : TestServer::silence();
  });
  start({.url = server.url(), .probe = runner::HttpProbe{.url = server.url("/done/{task}")}});

  EXPECT_TRUE(reaches(submit(150ms), task::State::kSucceeded));

  const auto seen = server.seen();
  ASSERT_EQ(seen.size(), 2U);
  EXPECT_EQ(seen[0].method, "POST");
  EXPECT_EQ(seen[1].method, "GET");
}

TEST_F(RunnerUnderAnEngine, AStopOfTheNodeCutsOffWhatIsOut) {
  TestServer server([](const TestServer::Seen&) { return TestServer::silence(); });
  start({.url = server.url()});
  (void)submit(1h);
  server.wait_for_open_requests(1);

  EXPECT_EQ(node_->stop(50ms).cut_off, 1);
}

TEST_F(RunnerUnderAnEngine, AThousandAttemptsInFlightTakeOneThreadMore) {
  constexpr int kTasks = 1'000;
  TestServer server([](const TestServer::Seen&) {
    // Longer than it takes to submit them all, under a sanitizer on a busy machine too.
    return TestServer::Reply{.bytes = TestServer::answer(200), .after = 10s};
  });
  const int threads_before = threads_of_this_process();
  start({.url = server.url()}, kTasks);
  std::vector<task::TaskId> tasks;
  const auto begun = std::chrono::steady_clock::now();
  for (int i = 0; i < kTasks; ++i) tasks.push_back(submit());
  EXPECT_TRUE(server.wait_for_open_requests(kTasks * 9 / 10));
  const int threads = threads_of_this_process();
  for (const auto& id : tasks) EXPECT_TRUE(reaches(id, task::State::kSucceeded));
  const auto took = std::chrono::steady_clock::now() - begun;

  std::printf(
      "1,000 attempts to a URL that takes 10 s: %lld ms, %d threads beside the client's\n",
      static_cast<long long>(std::chrono::duration_cast<std::chrono::milliseconds>(took).count()),
      threads - threads_before);
  // The engine's own, whatever is in flight: the core, the store's lines, a few to start calls.
  EXPECT_LE(threads - threads_before, 32);
  EXPECT_EQ(node_->executor_use().threads, 0);
}

TEST(HttpClientAlone, TheEnvironmentsProxiesAreIgnored) {
  TestServer proxy([](const auto&) { return TestServer::Reply{.bytes = TestServer::answer(299)}; });
  TestServer server(
      [](const auto&) { return TestServer::Reply{.bytes = TestServer::answer(200)}; });
  ::setenv("http_proxy", proxy.url().c_str(), 1);
  ::setenv("ALL_PROXY", proxy.url().c_str(), 1);
  const auto client = http::Client::open({}).value();

  const http::CallResult result = fetch(*client, {.url = server.url()});

  ::unsetenv("http_proxy");
  ::unsetenv("ALL_PROXY");
  ASSERT_TRUE(std::holds_alternative<http::Answer>(result));
  EXPECT_EQ(std::get<http::Answer>(result).status, 200);
  EXPECT_EQ(proxy.connections(), 0);
}

}  // namespace
}  // namespace recourse::tests

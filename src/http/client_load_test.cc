// Many calls at once: threads, connections, waiting, cancelling, and the end of them all.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <functional>
#include <future>
#include <latch>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "http/client_fixture.h"

namespace recourse::http {
namespace {

using namespace std::chrono_literals;

int threads_of_this_process() {
  int threads = 0;
  for ([[maybe_unused]] const auto& task : std::filesystem::directory_iterator("/proc/self/task")) {
    ++threads;
  }
  return threads;
}

TEST(Client, AConnectionIsUsedAgain) {
  TestServer server(always(TestServer::answer(200)));
  const auto client = open_client();

  for (int i = 0; i < 20; ++i) (void)answer_of(fetch(*client, {.url = server.url()}));

  EXPECT_EQ(server.connections(), 1);
  EXPECT_EQ(server.seen().size(), 20U);
}

TEST(Client, AConnectionThatWasClosedMeanwhileCostsNothing) {
  TestServer server(always(TestServer::answer(200), Then::kClose));
  const auto client = open_client();

  for (int i = 0; i < 5; ++i)
    EXPECT_EQ(answer_of(fetch(*client, {.url = server.url()})).status, 200);
}

// How many threads the client takes for a thousand calls to a host that is slow.
int threads_for_a_thousand(const std::string& host) {
  constexpr int kCalls = 1'000;
  TestServer server([](const TestServer::Seen&) {
    return TestServer::Reply{.bytes = TestServer::answer(200), .after = 2s};
  });
  const int threads_before = threads_of_this_process();
  std::promise<void> all_ended;
  const auto ended = all_ended.get_future();
  const auto client = open_client();
  std::atomic<int> left = kCalls;
  std::atomic<int> good = 0;
  for (int i = 0; i < kCalls; ++i) {
    client->send({.url = server.url("/", host), .timeout = 60s}, [&](const CallResult& result) {
      if (std::holds_alternative<Answer>(result)) ++good;
      if (--left == 0) all_ended.set_value();
    });
  }
  int most_threads = threads_of_this_process();
  while (ended.wait_for(1ms) != std::future_status::ready) {
    most_threads = std::max(most_threads, threads_of_this_process());
  }
  EXPECT_EQ(good, kCalls);
  // One each, so all were out at once: none was used again within the two seconds.
  EXPECT_EQ(server.connections(), kCalls);
  return most_threads - threads_before;
}

TEST(Client, AThousandSlowCallsAreInFlightOnOneThread) {
  EXPECT_EQ(threads_for_a_thousand("127.0.0.1"), 1);
}

// A look-up takes a thread of its own for a moment. That only one call makes it is shown by the
// tests of Admission: this name is found too quickly for a crowd of look-ups to be seen.
TEST(Client, AThousandCallsToANameTakeOneMoreThreadAtMost) {
  const std::string name = own_name();
  if (!points_to_loopback(name)) GTEST_SKIP() << "no name of this machine points to 127.0.0.1";

  EXPECT_LE(threads_for_a_thousand(name), 2);
}

TEST(Client, TheTimeRunsAlsoForThoseThatWaitForAConnection) {
  TestServer server([](const TestServer::Seen&) { return TestServer::silence(); });
  const auto client = open_client({.connections_per_host_max = 1});
  client->send({.url = server.url(), .timeout = 20s}, [](const CallResult&) {});

  const CallResult result = fetch(*client, {.url = server.url(), .timeout = 100ms});

  EXPECT_EQ(failure_of(result).trouble, CallTrouble::kTimedOut);
  EXPECT_LE(server.connections(), 1);
}

TEST(Client, NoMoreConnectionsToAHostThanAllowed) {
  TestServer server([](const TestServer::Seen&) {
    return TestServer::Reply{.bytes = TestServer::answer(200), .after = 2ms};
  });
  constexpr int kCalls = 60;
  std::latch ended(kCalls);
  const auto client = open_client({.connections_per_host_max = 3});
  for (int i = 0; i < kCalls; ++i) {
    client->send({.url = server.url()}, [&](const CallResult& result) {
      (void)answer_of(result);
      ended.count_down();
    });
  }
  ended.wait();

  EXPECT_EQ(server.connections(), 3);
}

TEST(Client, ANameThatIsNoneIsUnreachableForAllWhoAskForIt) {
  constexpr int kCalls = 50;
  std::latch ended(kCalls);
  std::atomic<int> unreachable = 0;
  const auto client = open_client();
  for (int i = 0; i < kCalls; ++i) {
    client->send({.url = "http://nobody.invalid/", .timeout = 30s}, [&](const CallResult& result) {
      if (failure_of(result).trouble == CallTrouble::kUnreachable) ++unreachable;
      ended.count_down();
    });
  }
  ended.wait();

  EXPECT_EQ(unreachable, kCalls);
}

TEST(Client, ACancelledCallEndsSoonAndOnce) {
  TestServer server([](const TestServer::Seen&) { return TestServer::silence(); });
  std::promise<CallResult> ended;
  const auto client = open_client();
  const CallId id = client->send({.url = server.url(), .timeout = 60s},
                                 [&](CallResult result) { ended.set_value(std::move(result)); });
  server.wait_for_open_requests(1);

  client->cancel(id);
  client->cancel(id);

  auto result = ended.get_future();
  ASSERT_EQ(result.wait_for(10s), std::future_status::ready);
  EXPECT_EQ(failure_of(result.get()).trouble, CallTrouble::kStopped);
  client->cancel(id);
  client->cancel(id + 1);
}

TEST(Client, ACallThatIsCancelledAtOnceIsNotSentLater) {
  TestServer server([](const TestServer::Seen&) { return TestServer::silence(); });
  std::promise<void> first_ended;
  std::promise<CallResult> ended;
  const auto client = open_client({.connections_per_host_max = 1});
  const CallId first = client->send({.url = server.url("/first"), .timeout = 60s},
                                    [&](const CallResult&) { first_ended.set_value(); });
  server.wait_for_open_requests(1);
  const CallId waiting =
      client->send({.url = server.url("/second"), .timeout = 60s},
                   [&](CallResult result) { ended.set_value(std::move(result)); });

  client->cancel(waiting);
  EXPECT_EQ(failure_of(ended.get_future().get()).trouble, CallTrouble::kStopped);
  client->cancel(first);
  first_ended.get_future().wait();

  EXPECT_EQ(server.seen().size(), 1U);
}

TEST(Client, ItsEndEndsEveryCall) {
  TestServer server([](const TestServer::Seen&) { return TestServer::silence(); });
  auto client = open_client({.connections_per_host_max = 20});
  std::atomic<int> stopped = 0;
  constexpr int kCalls = 100;
  for (int i = 0; i < kCalls; ++i) {
    client->send({.url = server.url(), .timeout = 60s}, [&](const CallResult& result) {
      if (failure_of(result).trouble == CallTrouble::kStopped) ++stopped;
    });
  }
  server.wait_for_open_requests(20);

  client.reset();

  EXPECT_EQ(stopped, kCalls);
}

// What hears of an end sends again, from the client's own thread.
TEST(Client, WhoHearsOfAnEndMaySendTheNext) {
  TestServer server(always(TestServer::answer(200)));
  std::promise<void> all;
  const auto client = open_client();
  int left = 50;
  std::function<void(CallResult)> next = [&](const CallResult& result) {
    (void)answer_of(result);
    if (--left == 0) return all.set_value();
    client->send({.url = server.url()}, next);
  };
  client->send({.url = server.url()}, next);

  all.get_future().wait();
  EXPECT_EQ(server.connections(), 1);
}

TEST(Client, ManyThreadsSendAndCancelAtOnce) {
  TestServer server([](const TestServer::Seen& seen) {
    return seen.target == "/slow" ? TestServer::silence()
                                  : TestServer::Reply{.bytes = TestServer::answer(200)};
  });
  auto client = open_client();
  constexpr int kThreads = 4;
  constexpr int kCalls = 100;
  std::atomic<int> ended = 0;
  {
    std::vector<std::jthread> threads;
    for (int t = 0; t < kThreads; ++t) {
      threads.emplace_back([&] {
        for (int i = 0; i < kCalls; ++i) {
          const bool slow = i % 2 == 0;
          const CallId id = client->send({.url = server.url(slow ? "/slow" : "/"), .timeout = 60s},
                                         [&](const CallResult&) { ++ended; });
          if (slow) client->cancel(id);
        }
      });
    }
  }
  client.reset();

  EXPECT_EQ(ended, kThreads * kCalls);
}

}  // namespace
}  // namespace recourse::http

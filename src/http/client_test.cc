#include "http/client.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netdb.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <filesystem>
#include <future>
#include <latch>
#include <thread>

#include "http/test_server.h"

namespace recourse::http {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;
using ::testing::Not;
using Then = TestServer::Then;

std::unique_ptr<Client> open_client(const Client::Settings& settings = {}) {
  return Client::open(settings).value();
}

TestServer::Script always(std::string bytes, Then then = Then::kKeep) {
  return [reply = TestServer::Reply{.bytes = std::move(bytes), .after = {}, .then = then}](
             const TestServer::Seen&) { return reply; };
}

const CallFailed& failure_of(const CallResult& result) {
  static const CallFailed none{CallTrouble::kStopped, "there was an answer"};
  const auto* failed = std::get_if<CallFailed>(&result);
  EXPECT_NE(failed, nullptr) << "answered with status " << std::get<Answer>(result).status;
  return failed == nullptr ? none : *failed;
}

const Answer& answer_of(const CallResult& result) {
  static const Answer none{};
  const auto* answer = std::get_if<Answer>(&result);
  EXPECT_NE(answer, nullptr) << std::get<CallFailed>(result).message;
  return answer == nullptr ? none : *answer;
}

int threads_of_this_process() {
  int threads = 0;
  for ([[maybe_unused]] const auto& task : std::filesystem::directory_iterator("/proc/self/task")) {
    ++threads;
  }
  return threads;
}

// Not `localhost`, which libcurl knows without asking.
std::string own_name() {
  std::array<char, 256> name{};
  EXPECT_EQ(::gethostname(name.data(), name.size() - 1), 0);
  return name.data();
}

bool points_to_loopback(const std::string& name) {
  const hostent* found = ::gethostbyname(name.c_str());
  return found != nullptr && found->h_addrtype == AF_INET && found->h_addr_list[0][0] == 127;
}

// A port that nobody listens on.
std::uint16_t closed_port() {
  TestServer gone(always(""));
  return gone.port();
}

TEST(Client, SendsWhatItIsGivenAndNothingElse) {
  TestServer server(always(TestServer::answer(201, "made", "Location: /x\r\nX-Empty:\r\n")));
  const auto client = open_client({.user_agent = "recourse-test"});
  const std::string payload("{\"n\": 12345678901234567890}\0\xFF", 29);

  const CallResult result =
      fetch(*client, {.method = Method::kPost,
                      .url = server.url("/orders?x=1"),
                      .headers = {{"X-One", "1"}, {"X-None", ""}, {"X-Text", "t\xC3\xA4xt"}},
                      .body = payload});

  const Answer& answer = answer_of(result);
  EXPECT_EQ(answer.status, 201);
  EXPECT_EQ(answer.body, "made");
  EXPECT_EQ(answer.headers.find("location"), "/x");
  EXPECT_EQ(answer.headers.find("x-empty"), "");
  EXPECT_FALSE(answer.cut);
  const auto seen = server.seen().at(0);
  EXPECT_EQ(seen.method, "POST");
  EXPECT_EQ(seen.target, "/orders?x=1");
  EXPECT_EQ(seen.body, payload);
  EXPECT_EQ(seen.headers.find("x-one"), "1");
  EXPECT_EQ(seen.headers.find("x-none"), "");
  EXPECT_EQ(seen.headers.find("x-text"), "t\xC3\xA4xt");
  EXPECT_EQ(seen.headers.find("user-agent"), "recourse-test");
  EXPECT_EQ(seen.headers.find("content-type"), std::nullopt);
  EXPECT_EQ(seen.headers.find("expect"), std::nullopt);
}

TEST(Client, EveryMethodArrivesAsItIs) {
  TestServer server(always(TestServer::answer(200)));
  const auto client = open_client();

  for (const Method method : {Method::kGet, Method::kPost, Method::kPut, Method::kPatch,
                              Method::kDelete, Method::kOptions}) {
    const CallResult result = fetch(*client, {.method = method, .url = server.url()});
    EXPECT_EQ(answer_of(result).status, 200) << to_string(method);
    EXPECT_EQ(server.seen().back().method, to_string(method));
  }
  // Its answer says how long a body would be, and has none.
  TestServer head_server(always("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n"));
  const CallResult head = fetch(*client, {.method = Method::kHead, .url = head_server.url()});
  EXPECT_EQ(answer_of(head).status, 200);
}

TEST(Client, ABigBodyArrivesWhole) {
  TestServer server(always(TestServer::answer(200)));
  const auto client = open_client();
  const std::string body(3'000'000, 'x');

  EXPECT_EQ(answer_of(fetch(*client, {.url = server.url(), .body = body})).status, 200);
  EXPECT_EQ(server.seen().at(0).body, body);
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

// A look-up takes a thread of its own for a moment: one for all of them.
TEST(Client, AThousandCallsToANameLookItUpOnce) {
  const std::string name = own_name();
  if (!points_to_loopback(name)) GTEST_SKIP() << "no name of this machine points to 127.0.0.1";

  EXPECT_LE(threads_for_a_thousand(name), 2);
}

TEST(Client, TimesOutWhereNoAnswerComes) {
  TestServer server([](const TestServer::Seen&) { return TestServer::silence(); });
  const auto client = open_client();

  const CallResult result = fetch(*client, {.url = server.url("/?key=s3cret"), .timeout = 150ms});

  EXPECT_EQ(failure_of(result).trouble, CallTrouble::kTimedOut);
  EXPECT_THAT(failure_of(result).message, HasSubstr("150ms"));
  EXPECT_THAT(failure_of(result).message, Not(HasSubstr("s3cret")));
}

TEST(Client, TheTimeCountsToTheLastByteOfTheAnswer) {
  TestServer server(
      always("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nonly a part", Then::kNothing));
  const auto client = open_client();

  const CallResult result = fetch(*client, {.url = server.url(), .timeout = 150ms});

  EXPECT_EQ(failure_of(result).trouble, CallTrouble::kTimedOut);
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

TEST(Client, NobodyThereIsUnreachable) {
  const auto client = open_client();
  const std::string port = std::to_string(closed_port());

  const CallResult result =
      fetch(*client, {.url = "http://user:hunter2@127.0.0.1:" + port + "/p?key=s3cret"});

  EXPECT_EQ(failure_of(result).trouble, CallTrouble::kUnreachable);
  EXPECT_THAT(failure_of(result).message, HasSubstr("http://127.0.0.1:" + port));
  EXPECT_THAT(failure_of(result).message, Not(HasSubstr("hunter2")));
  EXPECT_THAT(failure_of(result).message, Not(HasSubstr("s3cret")));
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

TEST(Client, AConnectionThatBreaksBeforeTheEndOfTheAnswerIsUnreachable) {
  const auto client = open_client();
  for (const auto& [bytes, then] : std::vector<std::pair<std::string, Then>>{
           {"", Then::kReset},
           {"", Then::kClose},
           {"HTTP/1.1 200", Then::kClose},
           {"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf", Then::kReset},
           {"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf", Then::kClose},
           {"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nab", Then::kClose},
           {"SSH-2.0-OpenSSH_9.2\r\n", Then::kClose},
       }) {
    TestServer server(always(bytes, then));

    const CallResult result = fetch(*client, {.url = server.url()});

    EXPECT_EQ(failure_of(result).trouble, CallTrouble::kUnreachable) << bytes;
  }
}

TEST(Client, ALongAnswerIsCutAndStillAnAnswer) {
  const auto client = open_client();
  const std::string body = std::string(100, 'a') + std::string(1'000'000, 'b');
  TestServer with_length(always(TestServer::answer(500, body)));
  TestServer without(always("HTTP/1.1 500 Oh\r\n\r\n" + body, Then::kClose));
  TestServer exact(always(TestServer::answer(500, std::string(100, 'a'))));

  for (const TestServer* server : {&with_length, &without, &exact}) {
    const CallResult result = fetch(*client, {.url = server->url(), .answer_bytes_max = 100});
    EXPECT_EQ(answer_of(result).status, 500);
    EXPECT_EQ(answer_of(result).body, std::string(100, 'a'));
    EXPECT_EQ(answer_of(result).cut, server != &exact);
  }
}

TEST(Client, HeadersWithoutEndAreNotKept) {
  std::string endless = "HTTP/1.1 200 OK\r\n";
  for (int i = 0; i < 2'000; ++i)
    endless += "X-" + std::to_string(i) + ": " + std::string(90, 'x') + "\r\n";
  TestServer server(always(endless, Then::kNothing));
  const auto client = open_client();

  const CallResult result = fetch(*client, {.url = server.url(), .timeout = 20s});

  EXPECT_EQ(failure_of(result).trouble, CallTrouble::kUnreachable);
  EXPECT_THAT(failure_of(result).message, HasSubstr("64 KiB"));
}

TEST(Client, InterimAnswersAndTrailersAreNotTheAnswers) {
  TestServer server(
      always("HTTP/1.1 103 Early Hints\r\nRetry-After: 9\r\n\r\n"
             "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nX-Own: 1\r\n\r\n"
             "2\r\nok\r\n0\r\nX-Trailer: 1\r\n\r\n"));
  const auto client = open_client();

  const CallResult result = fetch(*client, {.url = server.url()});

  EXPECT_EQ(answer_of(result).status, 200);
  EXPECT_EQ(answer_of(result).body, "ok");
  EXPECT_EQ(answer_of(result).headers.find("x-own"), "1");
  EXPECT_EQ(answer_of(result).headers.find("retry-after"), std::nullopt);
  EXPECT_EQ(answer_of(result).headers.find("x-trailer"), std::nullopt);
}

TEST(Client, ARedirectIsAnAnswerAndNotFollowed) {
  TestServer elsewhere(always(TestServer::answer(200)));
  TestServer server(
      always(TestServer::answer(302, "", "Location: " + elsewhere.url("/secret") + "\r\n")));
  const auto client = open_client();

  const CallResult result = fetch(*client, {.method = Method::kGet, .url = server.url()});

  EXPECT_EQ(answer_of(result).status, 302);
  EXPECT_EQ(elsewhere.connections(), 0);
}

TEST(Client, PiecesComeAsTheyAreSent) {
  TestServer server(always("HTTP/1.1 200 OK\r\n\r\nfirst", Then::kNothing));
  const auto client = open_client();
  std::string heard;

  const CallResult result = fetch(*client, {.url = server.url(),
                                            .timeout = 20s,
                                            .answer_bytes_max = 2,
                                            .on_piece = [&](std::string_view piece) {
                                              heard += piece;
                                              return false;
                                            }});

  EXPECT_EQ(failure_of(result).trouble, CallTrouble::kStopped);
  EXPECT_EQ(heard, "first");
}

TEST(Client, ARefusalCanBeReadAlsoWherePiecesWereAskedFor) {
  TestServer server(always(TestServer::answer(401, "who are you?")));
  const auto client = open_client();

  const CallResult result =
      fetch(*client, {.url = server.url(), .on_piece = [](std::string_view) { return true; }});

  EXPECT_EQ(answer_of(result).status, 401);
  EXPECT_EQ(answer_of(result).body, "who are you?");
}

TEST(Client, WhatCannotBeSentIsForbiddenWithAReason) {
  const auto client = open_client();
  TestServer server(always(TestServer::answer(200)));

  EXPECT_EQ(failure_of(fetch(*client, {.url = "ftp://127.0.0.1/"})).trouble,
            CallTrouble::kForbidden);
  EXPECT_EQ(failure_of(fetch(*client, {.url = "file:///etc/passwd"})).trouble,
            CallTrouble::kForbidden);
  EXPECT_EQ(failure_of(fetch(*client, {.url = "nonsense"})).trouble, CallTrouble::kForbidden);
  const CallResult smuggled =
      fetch(*client, {.url = server.url(), .headers = {{"X-A", "1\r\nX-B: 2"}}});
  EXPECT_EQ(failure_of(smuggled).trouble, CallTrouble::kForbidden);
  EXPECT_THAT(failure_of(smuggled).message, HasSubstr("X-A"));
  const CallResult bad_range = fetch(
      *client, {.url = server.url(), .reach = {.public_only = true, .allowed = {"10.0.0.0/99"}}});
  EXPECT_THAT(failure_of(bad_range).message, HasSubstr("10.0.0.0/99"));
  EXPECT_EQ(server.connections(), 0);
}

TEST(Client, RefusesAddressesOutOfReachHoweverTheyAreWritten) {
  TestServer server(always(TestServer::answer(200)));
  const auto client = open_client();
  for (const char* host : {"127.0.0.1", "localhost", "2130706433", "0x7f000001", "0177.0.0.1",
                           "127.1", "[::ffff:127.0.0.1]", "[::ffff:7f00:1]", "[::1]", "0.0.0.0",
                           "169.254.169.254", "10.255.255.1", "[fe80::1]", "224.0.0.1"}) {
    const CallResult result = fetch(
        *client, {.url = server.url("/", host), .timeout = 5s, .reach = {.public_only = true}});
    EXPECT_EQ(failure_of(result).trouble, CallTrouble::kForbidden) << host;
  }
  EXPECT_EQ(server.connections(), 0);
}

TEST(Client, ANameThatPointsToLoopbackIsRefusedWhereOnlyPublicOnesAreAllowed) {
  TestServer server(always(TestServer::answer(200)));
  const auto client = open_client();
  if (!points_to_loopback(own_name())) GTEST_SKIP() << "this machine's name is not 127.0.0.1";

  const CallResult result =
      fetch(*client,
            {.url = server.url("/", own_name()), .timeout = 20s, .reach = {.public_only = true}});

  EXPECT_EQ(failure_of(result).trouble, CallTrouble::kForbidden);
  EXPECT_EQ(server.connections(), 0);
}

TEST(Client, AllowedRangesAreReached) {
  TestServer server(always(TestServer::answer(200)));
  const auto client = open_client();

  const CallResult result =
      fetch(*client, {.url = server.url("/", "localhost"),
                      .reach = {.public_only = true, .allowed = {"127.0.0.0/8"}}});

  EXPECT_EQ(answer_of(result).status, 200);
}

// The kept connection was opened by somebody who may go anywhere.
TEST(Client, AConnectionOfAnothersIsNoWayAroundTheReach) {
  TestServer server(always(TestServer::answer(200)));
  const auto client = open_client();
  ASSERT_EQ(answer_of(fetch(*client, {.url = server.url()})).status, 200);

  const CallResult result = fetch(*client, {.url = server.url(), .reach = {.public_only = true}});

  EXPECT_EQ(failure_of(result).trouble, CallTrouble::kForbidden);
  EXPECT_EQ(server.seen().size(), 1U);
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

TEST(Client, SettingsThatCannotWorkAreRefused) {
  const auto client = Client::open({.connections_max = 0, .connect_within = 0s});

  ASSERT_FALSE(client);
  EXPECT_THAT(client.error().message, HasSubstr("connections_max"));
  EXPECT_THAT(client.error().message, HasSubstr("connect_within"));
}

}  // namespace
}  // namespace recourse::http

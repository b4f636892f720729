// What one call sends, and what comes back.
#include "http/client.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "http/client_fixture.h"

namespace recourse::http {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;
using ::testing::Not;

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

TEST(Client, AConnectionThatBreaksBeforeTheEndOfTheAnswerLeavesItInDoubt) {
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

    EXPECT_EQ(failure_of(result).trouble, CallTrouble::kBroken) << bytes;
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

  EXPECT_EQ(failure_of(result).trouble, CallTrouble::kBroken);
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

TEST(Client, SettingsThatCannotWorkAreRefused) {
  const auto client = Client::open({.connections_max = 0, .connect_within = 0s});

  ASSERT_FALSE(client);
  EXPECT_THAT(client.error().message, HasSubstr("connections_max"));
  EXPECT_THAT(client.error().message, HasSubstr("connect_within"));
}

}  // namespace
}  // namespace recourse::http

// Where calls may go, and what may not be sent at all.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "http/client_fixture.h"

namespace recourse::http {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;

TEST(Client, ARedirectIsAnAnswerAndNotFollowed) {
  TestServer elsewhere(always(TestServer::answer(200)));
  TestServer server(
      always(TestServer::answer(302, "", "Location: " + elsewhere.url("/secret") + "\r\n")));
  const auto client = open_client();

  const CallResult result = fetch(*client, {.method = Method::kGet, .url = server.url()});

  EXPECT_EQ(answer_of(result).status, 302);
  EXPECT_EQ(elsewhere.connections(), 0);
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

}  // namespace
}  // namespace recourse::http

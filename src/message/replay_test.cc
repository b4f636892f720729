#include "message/replay.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace recourse::message {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;

TEST(Replay, TellsHowManyRetriesAreUsedUp) {
  const Envelope envelope{.topic = "orders", .tags = "paid", .key = "c-7", .id = "m-1"};

  const Outgoing again = outgoing_of(envelope, "body", 3);

  EXPECT_EQ(again.topic, "orders");
  EXPECT_EQ(again.key, "c-7");
  EXPECT_EQ(again.id, "m-1");
  EXPECT_EQ(again.body, "body");
  EXPECT_EQ(replays_of(again.headers), 3);
  EXPECT_THAT(again.headers, Contains(Header{"tags", "paid"}));
}

TEST(Replay, HeadersStayWhatTheyWereHoweverOften) {
  Envelope envelope{.topic = "orders", .id = "m-1"};
  envelope.headers = {{"trace", "1"}};

  for (int i = 1; i < 4; ++i) envelope.headers = outgoing_of(envelope, "", i).headers;

  EXPECT_THAT(envelope.headers,
              ElementsAre(Header{"trace", "1"}, Header{std::string(kReplayHeader), "3"}));
}

TEST(Replay, WhatMakesNoSenseIsNone) {
  for (const char* text : {"", "x", "3x", "-1", "99999999999999999999"}) {
    EXPECT_EQ(replays_of({{std::string(kReplayHeader), text}}), 0) << text;
  }
  EXPECT_EQ(replays_of({}), 0);
  EXPECT_EQ(replays_of({{std::string(kReplayHeader), "5000"}}), task::kRetriesMax);
}

}  // namespace
}  // namespace recourse::message

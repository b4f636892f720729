// What every broker's adapter promises, on the brokers themselves. MSG-12: nothing is acknowledged
// before its caller says so.
#include <set>
#include <thread>

#include "tests/message_fixture.h"

namespace recourse::tests {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

INSTANTIATE_TEST_SUITE_P(Brokers, MessageBroker, kBrokers,
                         [](const auto& one) { return one.param; });

TEST_P(MessageBroker, DeliversWhatWasPublishedInItsOrder) {
  const auto source = open();
  publish(*source, 50);

  const std::vector<Message> all = receive(*source, 50);

  ASSERT_THAT(all, SizeIs(50));
  for (int i = 0; i < 50; ++i) {
    const Message& message = all[static_cast<std::size_t>(i)];
    EXPECT_EQ(message.id, "m" + std::to_string(i));
    EXPECT_EQ(message.body, "body of " + message.id);
    EXPECT_EQ(message.key, "k");
    EXPECT_EQ(message.topic, topic_);
    EXPECT_EQ(message.source, "shop");
    EXPECT_TRUE(message.published_at);
    EXPECT_FALSE(message.redelivered);
  }
}

TEST_P(MessageBroker, BodiesAndHeadersComeByteForByte) {
  const auto source = open();
  std::string binary;
  for (int i = 0; i < 256; ++i) binary += static_cast<char>(i);
  std::vector<Outgoing> messages;
  for (const std::string& body : {std::string(), binary, std::string(1 << 20, '\xff')}) {
    messages.push_back({.topic = topic_,
                        .key = "",
                        .id = "",
                        .headers = {{"trace", "a b\xc3\xbc"}, {"tags", "red"}},
                        .body = body});
  }
  const Result<> published = source->publish(messages, in(20s));
  ASSERT_TRUE(published) << published.error().message;

  const std::vector<Message> all = receive(*source, 3);

  ASSERT_THAT(all, SizeIs(3));
  EXPECT_EQ(all[0].body, "");
  EXPECT_EQ(all[1].body, binary);
  EXPECT_TRUE(all[2].body == messages[2].body);
  EXPECT_EQ(header_of(all[1], "trace"), "a b\xc3\xbc");
  EXPECT_EQ(all[1].tags, "red");
  EXPECT_NE(all[0].id, all[1].id);
  EXPECT_EQ(all[0].id_origin,
            is("Rabbitmq") ? message::IdOrigin::kBodyHash : message::IdOrigin::kPosition);
}

TEST_P(MessageBroker, AcknowledgedMessagesDoNotComeAgainAndUndecidedOnesDo) {
  {
    const auto source = open();
    publish(*source, 6);
    const std::vector<Message> all = receive(*source, 6);
    ASSERT_THAT(all, SizeIs(6));
    EXPECT_EQ(settle(*source, {all[0], all[1], all[2], all[4]}).accepted, 4U);
    EXPECT_EQ(source->close(in(10s)).value(), 2U);
  }
  const auto next = open();

  // Kafka's offset cannot pass what is undecided: what is done behind it comes again.
  const std::vector<Message> again = receive(*next, is("Kafka") ? 3 : 2);

  if (is("Kafka")) {
    EXPECT_THAT(ids(again), ElementsAre("m3", "m4", "m5"));
  } else {
    EXPECT_THAT(ids(again), ElementsAre("m3", "m5"));
  }
  EXPECT_THAT(receive(*next, 1, 300ms), IsEmpty());
}

TEST_P(MessageBroker, WhatWasGivenBackComesAgainAndNothingElse) {
  const auto source = open();
  publish(*source, 4);
  const std::vector<Message> all = receive(*source, 4);
  ASSERT_THAT(all, SizeIs(4));
  (void)settle(*source, {all[0], all[2]});

  EXPECT_EQ(settle(*source, {all[1]}, Fate::kGiveBack).accepted, 1U);

  const std::vector<Message> again = receive(*source, 1);
  ASSERT_THAT(ids(again), ElementsAre("m1"));
  EXPECT_TRUE(again[0].redelivered);
  EXPECT_NE(again[0].ticket, all[1].ticket);
  (void)settle(*source, {again[0], all[3]});
  EXPECT_THAT(receive(*source, 1, 500ms), IsEmpty());
}

TEST_P(MessageBroker, ASecondVerdictIsDroppedAndTold) {
  const auto source = open();
  publish(*source, 1);
  const std::vector<Message> all = receive(*source, 1);
  ASSERT_THAT(all, SizeIs(1));
  EXPECT_EQ(settle(*source, all).accepted, 1U);

  const message::Settlement second = settle(*source, all, Fate::kGiveBack);

  EXPECT_EQ(second.accepted, 0U);
  EXPECT_THAT(second.dropped, ElementsAre(all[0].ticket));
}

TEST_P(MessageBroker, PrefetchBoundsWhatIsOut) {
  SourceSettings small = settings();
  small.prefetch = 5;
  const auto source = open(small);
  publish(*source, 12);

  const std::vector<Message> first = receive(*source, 5);
  ASSERT_THAT(first, SizeIs(5));
  EXPECT_THAT(receive(*source, 1, 1s), IsEmpty());
  (void)settle(*source, {first[0], first[1]});

  EXPECT_THAT(ids(receive(*source, 2)), ElementsAre("m5", "m6"));
}

TEST_P(MessageBroker, AKilledConsumersMessagesComeToAnother) {
  {
    const auto source = open();
    publish(*source, 5);
  }
  SourceSettings with = settings();
  with.redis.claim_after = 500ms;
  TalkingProcess victim({MESSAGE_CONSUMER, with.url, topic_, with.group, "5"});
  ASSERT_EQ(victim.read_line(), "5");

  victim.kill();

  const auto source = open(with);
  EXPECT_THAT(ids(receive(*source, 5)), ElementsAre("m0", "m1", "m2", "m3", "m4"));
}

TEST_P(MessageBroker, AnInterruptEndsAReceivePromptly) {
  const auto source = open();
  ASSERT_TRUE(source->connect(in(10s)));
  const auto start = std::chrono::steady_clock::now();
  std::jthread other([&] {
    std::this_thread::sleep_for(100ms);  // so that it usually waits; before that must do too
    source->interrupt();
  });

  const auto none = source->receive(1, in(20s));

  ASSERT_TRUE(none);
  EXPECT_THAT(*none, IsEmpty());
  EXPECT_LT(std::chrono::steady_clock::now() - start, 5s);
}

TEST_P(MessageBroker, EveryGroupGetsAll) {
  if (is("Rabbitmq")) GTEST_SKIP() << "a group is a queue there";
  const auto publisher = open();
  publish(*publisher, 20);
  for (const char* group : {"one", "two"}) {
    const auto source = open(settings(group));
    EXPECT_THAT(receive(*source, 20), SizeIs(20)) << group;
    EXPECT_TRUE(source->close(in(10s)));
  }
}

TEST_P(MessageBroker, TwoConsumersShareWhatThereIs) {
  if (is("Kafka")) GTEST_SKIP() << "one partition has one consumer at a time";
  SourceSettings small = settings();
  small.prefetch = 10;
  const auto one = open(small);
  const auto two = open(small);
  publish(*one, 20);

  std::vector<std::string> all = ids(receive(*one, 10));
  for (const std::string& id : ids(receive(*two, 10))) all.push_back(id);

  EXPECT_THAT(std::set<std::string>(all.begin(), all.end()), SizeIs(20));
}

// A caller that has no room still owns what is out.
TEST_P(MessageBroker, AskedForNothingItTakesNothingAndKeepsWhatIsOut) {
  const auto source = open();
  publish(*source, 3);
  const std::vector<Message> one = receive(*source, 1);
  ASSERT_THAT(one, SizeIs(1));

  const auto end =
      in(std::chrono::duration_cast<std::chrono::milliseconds>(settings().heartbeat * 2));
  while (std::chrono::steady_clock::now() < end) {
    const auto none = source->receive(0, in(300ms));
    ASSERT_TRUE(none) << none.error().message;
    EXPECT_THAT(*none, IsEmpty());
  }

  EXPECT_EQ(settle(*source, one).accepted, 1U);
  EXPECT_THAT(ids(receive(*source, 2)), ElementsAre("m1", "m2"));
}

}  // namespace
}  // namespace recourse::tests

// Kafka moves partitions between the members of a group while messages are out.
#include <map>
#include <set>

#include "tests/message_fixture.h"

namespace recourse::tests {
namespace {

using ::testing::SizeIs;

class MessageRebalance : public MessageBroker {};
INSTANTIATE_TEST_SUITE_P(Brokers, MessageRebalance, ::testing::Values("KafkaMock"),
                         [](const auto& one) { return one.param; });

TEST_P(MessageRebalance, DropsTicketsTellsSoAndLosesNothing) {
  topic_ += ".two";
  (void)mock_cluster().ask("topic " + topic_ + " 2");
  const auto one = open();
  std::vector<Outgoing> messages;
  for (int i = 0; i < 20; ++i) {
    const std::string id = std::to_string(i);
    messages.push_back({.topic = topic_, .key = "key " + id, .id = id, .headers = {}, .body = id});
  }
  ASSERT_TRUE(one->publish(messages, in(20s)));
  const std::vector<Message> before = receive(*one, 20);
  ASSERT_THAT(before, SizeIs(20));

  const auto two = open();
  std::map<Source*, std::set<std::string>> after;
  for (const auto end = in(40s); std::chrono::steady_clock::now() < end;) {
    for (Source* source : {one.get(), two.get()}) {
      const auto batch = source->receive(20, in(500ms));
      if (!batch) continue;
      for (const Message& message : *batch) after[source].insert(message.id);
    }
    if (after[one.get()].size() + after[two.get()].size() >= 20 && !after[two.get()].empty()) break;
  }

  // Each has a partition, and what was out has come again.
  EXPECT_EQ(after[one.get()].size() + after[two.get()].size(), 20U);
  EXPECT_FALSE(after[one.get()].empty());
  EXPECT_FALSE(after[two.get()].empty());
  EXPECT_THAT(settle(*one, before).dropped, SizeIs(20));
}

}  // namespace
}  // namespace recourse::tests

// A feeder on brokers themselves, with what goes wrong on either side of it: nothing is
// acknowledged without a mark. I12, MSG-12
#include <atomic>
#include <set>

#include "message/key.h"
#include "store/memory/memory_store.h"
#include "tests/message_door.h"
#include "tests/message_fixture.h"
#include "tests/support/full_form.h"
#include "tests/support/place.h"
#include "tests/support/private_server.h"

namespace recourse::tests {
namespace {

using message::Dealing;
using message::Feeder;
using ::testing::IsEmpty;
using ::testing::SizeIs;

class MessageFeeder : public MessageBroker {
 protected:
  std::size_t marked(int count, const std::string& prefix = "m") {
    std::vector<store::MessageKey> keys;
    for (int i = 0; i < count; ++i) {
      keys.push_back(message::key_of({.source = "shop", .group = "billing", .topic = topic_},
                                     prefix + std::to_string(i)));
    }
    const auto seen = door_.opened().inbox().look_up(keys, 5s).value();
    return static_cast<std::size_t>(
        std::ranges::count_if(seen, [](const auto& mark) { return mark.has_value(); }));
  }
  bool is_marked(const std::string& id) {
    const std::vector key{
        message::key_of({.source = "shop", .group = "billing", .topic = topic_}, id)};
    return door_.opened().inbox().look_up(key, 5s).value().front().has_value();
  }
  std::size_t tasks() {
    const auto counts = door_.opened().reader().counts(5s).value();
    std::size_t all = 0;
    for (const auto& [key, count] : counts) all += static_cast<std::size_t>(count);
    return all;
  }

  SystemClock clock_;
  MessageDoor door_{store::memory::open(store::memory::make_data(), clock_), log_};
};
INSTANTIATE_TEST_SUITE_P(Brokers, MessageFeeder,
                         ::testing::Values("RabbitmqClassic", "Redis", "KafkaMock"),
                         [](const auto& one) { return one.param; });

TEST_P(MessageFeeder, AcknowledgesWhatIsRecorded) {
  const auto publisher = open();
  publish(*publisher, 250);
  Feeder& feeder = door_.feed(open(), door_.deal());

  EXPECT_TRUE(eventually([&] { return feeder.figures().acknowledged == 250; }, 30s));
  feeder.stop(5s);

  EXPECT_EQ(marked(250), 250U);
  EXPECT_EQ(tasks(), 250U);
  EXPECT_THAT(receive(*open(), 1, is("Kafka") ? 4s : 1s), IsEmpty());
}

TEST_P(MessageFeeder, WhileTheStoreIsDownTheBrokerKeepsThem) {
  std::atomic<bool> is_down = true;
  const message::Deal deal = door_.deal();
  const auto publisher = open();
  publish(*publisher, 20);
  Feeder& feeder = door_.feed(open(),
                              [&](std::span<const Message> batch,
                                  const std::stop_token& stop) -> Result<std::vector<Dealing>> {
                                if (is_down) return fail(ErrorCode::kUnavailable, "no store");
                                return deal(batch, stop);
                              });

  ASSERT_TRUE(eventually([&] { return feeder.figures().errors >= 3; }, 30s));
  EXPECT_EQ(feeder.figures().acknowledged, 0U);
  is_down = false;
  EXPECT_TRUE(eventually([&] { return feeder.figures().acknowledged == 20; }, 30s));
  feeder.stop(5s);

  EXPECT_EQ(tasks(), 20U);
}

// Longer than the broker waits for a sign of life.
TEST_P(MessageFeeder, AHandlerThatTakesLongLosesNothing) {
  const message::Deal deal = door_.deal();
  std::atomic<int> slow = 0;
  const auto publisher = open();
  publish(*publisher, 12);
  const auto takes = settings().heartbeat * 3;
  Feeder& feeder = door_.feed(open(),
                              [&](std::span<const Message> batch, const std::stop_token& stop) {
                                if (slow++ == 0) std::this_thread::sleep_for(takes);
                                return deal(batch, stop);
                              },
                              {.batch = 4});

  EXPECT_TRUE(eventually([&] { return feeder.figures().acknowledged == 12; }, 60s));
  EXPECT_EQ(feeder.figures().received, 12U) << "none came again";
  EXPECT_EQ(feeder.figures().errors, 0U);
}

TEST_P(MessageFeeder, StoppedInTheMiddleItLeavesTheRestToTheBroker) {
  const message::Deal deal = door_.deal();
  std::atomic<int> batches = 0;
  const auto publisher = open();
  publish(*publisher, 100);
  Feeder& feeder = door_.feed(open(),
                              [&](std::span<const Message> batch, const std::stop_token& stop) {
                                std::this_thread::sleep_for(10ms);
                                ++batches;
                                return deal(batch, stop);
                              },
                              {.batch = 5});
  ASSERT_TRUE(eventually([&] { return batches >= 3; }, 30s));

  feeder.stop(5s);

  const std::size_t there = marked(100);
  EXPECT_GE(there, 10U);
  std::set<std::string> rest;
  for (const std::string& id : ids(receive(*open(), 100 - there, 20s))) rest.insert(id);
  for (int i = 0; i < 100; ++i) {
    const std::string id = "m" + std::to_string(i);
    EXPECT_TRUE(is_marked(id) || rest.contains(id)) << id << " is gone";
  }
}

TEST_P(MessageFeeder, GoesOnAfterTheBrokerWasRestarted) {
  if (is("Rabbitmq") && !is_full()) {
    GTEST_SKIP() << "message_kill_test.cc restarts RabbitMQ; here it takes half a minute: --full";
  }
  std::unique_ptr<PrivateServer> server;
  if (!is("Kafka")) {
    server =
        std::make_unique<PrivateServer>(is("Redis") ? ServerKind::kRedis : ServerKind::kRabbitmq);
    url_ = server->url();
  }
  ASSERT_TRUE(open()->connect(in(20s)));
  publish(*open(), 50);
  Feeder& feeder = door_.feed(open(), door_.deal(), {.batch = 10});
  ASSERT_TRUE(eventually([&] { return feeder.figures().acknowledged >= 10; }, 30s));

  server ? server->stop() : (void)mock_cluster().ask("down");
  (void)eventually([&] { return !feeder.figures().connected; }, 2s);
  server ? server->start() : (void)mock_cluster().ask("up");
  publish(*open(), 50, "after");

  EXPECT_TRUE(eventually([&] { return marked(50, "after") == 50; }, 60s));
  EXPECT_EQ(marked(50), 50U);
  EXPECT_EQ(tasks(), 100U) << "one task for each, however often it came";
  EXPECT_THAT(feeder.figures().trouble, IsEmpty());
}

TEST_P(MessageFeeder, PublishesWhatIsToComeAgain) {
  Feeder& feeder = door_.feed(open(), door_.deal());
  const std::vector<Outgoing> one{{.topic = topic_, .id = "again0", .body = "{}"}};

  const Result<> published = feeder.publish(one, 20s);

  ASSERT_TRUE(published) << published.error().message;
  EXPECT_TRUE(eventually([&] { return marked(1, "again") == 1; }, 30s));
}

}  // namespace
}  // namespace recourse::tests

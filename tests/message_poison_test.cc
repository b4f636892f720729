// A message that fails for ever, and one that does not parse, hold up nobody.
#include <gmock/gmock.h>

#include <map>

#include "store/sqlite/sqlite_store.h"
#include "tests/message_door.h"
#include "tests/message_fixture.h"
#include "tests/support/place.h"

namespace recourse::tests {
namespace {

class MessagePoison : public MessageBroker {
 protected:
  [[nodiscard]] std::string path(const char* name) const {
    return (folder_.path() / name).string();
  }

  TemporaryDirectory folder_;
};
INSTANTIATE_TEST_SUITE_P(Brokers, MessagePoison,
                         ::testing::Values("RabbitmqClassic", "Redis", "KafkaMock"),
                         [](const auto& one) { return one.param; });

TEST_P(MessagePoison, APoisonMessageDoesNotDelayTheOnesBehindIt) {
  const SystemClock clock;
  Mutex mutex;
  std::map<std::string, std::chrono::steady_clock::time_point> ran;
  MessageDoor door(store::sqlite::open(path("store.db"), clock).value(), log_);
  door.handle(MessageDoor::handler_of([&](const task::Task& task) -> engine::AttemptResult {
    {
      const MutexLock lock(mutex);
      ran.emplace(task.spec.search_keys.at("message_id"), std::chrono::steady_clock::now());
    }
    if (task.spec.payload != R"("poison")") return engine::Succeeded{};
    std::this_thread::sleep_for(300ms);
    return engine::Failed{policy::Declined{"connection refused"}};
  }));
  message::HandOverSettings handed = message_settings();
  handed.format = message::BodyFormat::kJson;
  door.feed(open(), door.deal(handed));
  const auto publisher = open();
  const auto when = [&](const std::string& id) {
    const MutexLock lock(mutex);
    const auto found = ran.find(id);
    return found == ran.end() ? std::nullopt : std::optional(found->second);
  };
  // From when it is sent to when its handler begins; in milliseconds.
  const auto delay_of = [&](const std::string& id, const std::vector<std::string>& before) {
    std::vector<Outgoing> messages;
    for (const std::string& body : before) {
      messages.push_back({.topic = topic_, .key = "k", .id = id + body, .body = body});
    }
    messages.push_back({.topic = topic_, .key = "k", .id = id, .body = "1"});
    const auto sent = std::chrono::steady_clock::now();
    EXPECT_TRUE(publisher->publish(messages, in(20s)));
    EXPECT_TRUE(eventually([&] { return when(id).has_value(); }, 30s));
    return std::chrono::duration<double, std::milli>(when(id).value_or(sent) - sent).count();
  };
  (void)delay_of("first", {});

  std::vector<double> alone;
  std::vector<double> behind;
  const std::size_t rounds = is("Kafka") ? 5 : 11;
  for (std::size_t i = 0; i < rounds; ++i) {
    alone.push_back(delay_of("alone" + std::to_string(i), {}));
    behind.push_back(delay_of("behind" + std::to_string(i), {R"("poison")", "{nonsense"}));
  }
  door.stop();

  std::ranges::sort(alone);
  std::ranges::sort(behind);
  std::printf("%s: median %.1f ms, behind a poison message %.1f ms\n", GetParam(),
              alone[rounds / 2], behind[rounds / 2]);
  EXPECT_LT(behind[rounds / 2] - alone[rounds / 2], 100);
}

}  // namespace
}  // namespace recourse::tests

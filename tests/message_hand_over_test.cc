// Messages handed to an engine over a store in memory: marks, order within a key, replay.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <functional>
#include <map>
#include <string>
#include <thread>
#include <vector>

#include "base/mutex.h"
#include "message/body_format.h"
#include "message/ordering.h"
#include "message/replay.h"
#include "store/memory/memory_store.h"
#include "tests/message_door.h"
#include "tests/support/message_test_source.h"

namespace recourse::tests {
namespace {

using message::Dealing;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::SizeIs;

bool soon(const std::function<bool()>& holds) {
  const auto until = std::chrono::steady_clock::now() + 20s;
  while (!holds()) {
    if (std::chrono::steady_clock::now() > until) return false;
    std::this_thread::sleep_for(2ms);
  }
  return true;
}

Message message(const std::string& id, std::string body = "{}", std::string key = {}) {
  return {.source = "shop",
          .topic = "orders",
          .key = std::move(key),
          .id = id,
          .body = std::move(body)};
}

class MessageHandOver : public ::testing::Test {
 protected:
  static engine::AttemptResult failed(std::string why) {
    return engine::Failed{policy::Declined{std::move(why)}};
  }
  std::vector<Dealing> deal(const std::vector<Message>& batch,
                            message::HandOverSettings settings = message_settings()) {
    return door_.deal(std::move(settings))(batch, {}).value();
  }
  std::vector<task::Task> tasks() {
    return door_.opened().reader().list({}, std::nullopt, store::kPageRowsMax, 1s).value().tasks;
  }
  std::size_t count_of(task::State state) {
    const auto all = tasks();
    return static_cast<std::size_t>(std::ranges::count(all, state, &task::Task::state));
  }
  void note(const std::string& what) {
    const MutexLock lock(mutex_);
    ran_.push_back(what);
  }
  std::vector<std::string> ran() {
    const MutexLock lock(mutex_);
    return ran_;
  }
  static std::string id_of(const task::Task& task) {
    return task.spec.search_keys.at("message_id");
  }

  MemoryLog log_;
  SystemClock clock_;
  Mutex mutex_;
  std::vector<std::string> ran_ GUARDED_BY(mutex_);
  MessageDoor door_{store::memory::open(store::memory::make_data(), clock_), log_};
};

// I12: however often it is delivered, in one batch or in several, it makes one task.
TEST_F(MessageHandOver, AMessageThatComesAgainMakesOneTask) {
  const auto once = deal({message("a"), message("b"), message("a")});
  const auto again = deal({message("b"), message("c")});

  EXPECT_THAT(once, ElementsAre(Dealing::kDone, Dealing::kDone, Dealing::kDone));
  EXPECT_THAT(again, ElementsAre(Dealing::kDone, Dealing::kDone));
  EXPECT_THAT(tasks(), SizeIs(3));
}

TEST_F(MessageHandOver, TheEngineRunsItAndRetriesIt) {
  door_.handle(MessageDoor::handler_of([&](const task::Task& task) -> engine::AttemptResult {
    note(task.spec.payload);
    if (task.retries < 2) return failed("connection refused");
    return engine::Succeeded{};
  }));

  deal({message("a", "pay")});

  EXPECT_TRUE(soon([&] { return count_of(task::State::kSucceeded) == 1; }));
  EXPECT_THAT(ran(), ElementsAre("pay", "pay", "pay"));
}

// MSG-12
TEST_F(MessageHandOver, WhatCanNeverBeRecordedIsRefusedAndTheOthersAreDone) {
  const auto dealings =
      deal({message("a"), message("large", std::string(task::kPayloadBytesMax + 1, 'x')),
            message(""), message(std::string(256, 'i')), message("\xFF\x00\xFE", "\xFF")});

  EXPECT_THAT(dealings, ElementsAre(Dealing::kDone, Dealing::kRefused, Dealing::kRefused,
                                    Dealing::kRefused, Dealing::kDone));
  EXPECT_THAT(tasks(), SizeIs(2));
  EXPECT_THAT(log_.lines(), Contains(HasSubstr("publish it smaller")));
}

// The broker delivers it for ever, to whichever consumer of the source.
TEST_F(MessageHandOver, WhatIsRefusedIsToldOfAndCountedOnce) {
  const std::vector batch{message(std::string(256, 'i')), message("good")};

  EXPECT_THAT(deal(batch), ElementsAre(Dealing::kRefused, Dealing::kDone));
  EXPECT_THAT(deal(batch), ElementsAre(Dealing::kRefusedAgain, Dealing::kDone));
  EXPECT_THAT(deal({message(std::string(257, 'i'))}), ElementsAre(Dealing::kRefused));

  const auto told = [](const std::string& line) {
    return line.find("message_refused") != std::string::npos;
  };
  EXPECT_EQ(std::ranges::count_if(log_.lines(), told), 2);
}

TEST_F(MessageHandOver, BatchesAreAsLargeAsTheStoreTakes) {
  std::vector<Message> batch;
  for (int i = 0; i < 40; ++i) {
    batch.push_back(message("large" + std::to_string(i), std::string(task::kPayloadBytesMax, 'x')));
  }
  for (int i = 0; i < 1'200; ++i) batch.push_back(message(std::to_string(i)));

  const auto dealings = deal(batch);

  EXPECT_THAT(dealings, ::testing::Each(Dealing::kDone));
  const auto counts = door_.opened().reader().counts(1s).value();
  EXPECT_EQ(counts.at({kOrders, task::State::kPending}), 1'240);
}

// ENG-3 for messages
TEST_F(MessageHandOver, ABodyThatDoesNotParseGoesToAPersonAtOnce) {
  message::HandOverSettings settings = message_settings();
  settings.format = message::BodyFormat::kJson;

  const auto dealings =
      deal({message("bad", "{nonsense"), message("good", R"({"a":1})")}, settings);

  EXPECT_THAT(dealings, ElementsAre(Dealing::kDone, Dealing::kDone));
  ASSERT_EQ(count_of(task::State::kDead), 1U);
  for (const task::Task& task : tasks()) {
    if (task.state != task::State::kDead) continue;
    EXPECT_EQ(id_of(task), "bad");
    EXPECT_EQ(task.last_error->code, "SERDE_ERROR");
    EXPECT_EQ(task.attempts, 1);
    EXPECT_THAT(door_.opened().reader().attempts(task.id, 1s).value(), SizeIs(1));
  }
  EXPECT_THAT(log_.lines(), Contains(HasSubstr("message_consume_failed")));
  EXPECT_THAT(log_.lines(), Contains(HasSubstr("message_gave_up")));
}

// It is asked again at every run: a person may retry it as it is, or edit it.
TEST_F(MessageHandOver, ABodyThatDoesNotParseIsNeverRunHoweverItIsRetried) {
  message::HandOverSettings settings = message_settings();
  settings.format = message::BodyFormat::kJson;
  door_.handle(message::check_body(MessageDoor::handler_of([&](const task::Task& task) {
                                     note(task.spec.payload);
                                     return engine::Succeeded{};
                                   }),
                                   settings.format));
  deal({message("bad", "{nonsense")}, settings);
  const auto retry_with = [&](std::optional<std::string> body) {
    task::Order order;
    order.move = task::Move::kReopen;
    order.payload = std::move(body);
    ASSERT_TRUE(door_.opened().store().control(std::vector{tasks().at(0).id}, order, "joe", 1s));
    door_.node().hint_work();
  };
  const auto is_dead_after = [&](int attempts) {
    return soon([&] {
      const task::Task task = tasks().at(0);
      return task.state == task::State::kDead && task.attempts == attempts;
    });
  };
  ASSERT_TRUE(is_dead_after(1));

  retry_with(std::nullopt);
  EXPECT_TRUE(is_dead_after(2));
  EXPECT_EQ(tasks().at(0).last_error->code, "SERDE_ERROR");
  retry_with("still {nonsense");
  EXPECT_TRUE(is_dead_after(3));
  EXPECT_THAT(ran(), ::testing::IsEmpty());
  retry_with("{}");

  EXPECT_TRUE(soon([&] { return count_of(task::State::kSucceeded) == 1; }));
  EXPECT_THAT(ran(), ElementsAre("{}"));
}

class MessageOrder : public MessageHandOver {
 protected:
  void start(message::OrderSettings settings) {
    door_.handle(message::keep_order(
        MessageDoor::handler_of([&](const task::Task& task) -> engine::AttemptResult {
          const std::string id = id_of(task);
          note(id);
          if (id == "dead") return failed("a business error");
          if (id == "late" && task.retries < 1) return failed("connection refused");
          return engine::Succeeded{};
        }),
        door_.opened().reader(), settings));
  }
  static message::HandOverSettings ordered() {
    message::HandOverSettings settings = message_settings();
    settings.handling.ordered = true;
    return settings;
  }
  // Those that ran, without the others.
  std::vector<std::string> ran_of_key() {
    std::vector<std::string> mine = ran();
    std::erase(mine, "other");
    return mine;
  }
};

TEST_F(MessageOrder, NoneOvertakesAnOlderOneOfItsKey) {
  start({.pause_min = 20ms});

  deal({message("late", "{}", "c-7"), message("2", "{}", "c-7"), message("other", "{}", "c-8"),
        message("3", "{}", "c-7")},
       ordered());

  EXPECT_TRUE(soon([&] { return count_of(task::State::kSucceeded) == 4; }));
  EXPECT_THAT(ran_of_key(), ElementsAre("late", "late", "2", "3"));
  for (const task::Task& task : tasks()) {
    EXPECT_EQ(task.attempts, id_of(task) == "late" ? 2 : 1) << "waiting is no attempt";
  }
}

TEST_F(MessageOrder, ADeadHeadBlocksItsKeyUntilSomebodyHasDealtWithIt) {
  start({.pause_min = 20ms});

  deal({message("dead", "{}", "c-7"), message("2", "{}", "c-7"), message("other", "{}", "c-8")},
       ordered());

  EXPECT_TRUE(soon([&] { return count_of(task::State::kSucceeded) == 1; }));
  std::this_thread::sleep_for(200ms);
  EXPECT_THAT(ran_of_key(), ElementsAre("dead"));
  for (const task::Task& task : tasks()) {
    EXPECT_EQ(task.retries, 0) << "waiting uses no retry";
    if (task.state != task::State::kDead) continue;
    task::Order order;
    order.move = task::Move::kIgnore;
    ASSERT_TRUE(door_.opened().store().control(std::vector{task.id}, order, "joe", 1s));
  }
  EXPECT_TRUE(soon([&] { return count_of(task::State::kSucceeded) == 2; }));
}

// And not in the hands of the node, which has room for other work.
TEST_F(MessageOrder, ALongLineWaitsInTheStoreAndGoesOnInItsOrder) {
  start({.pause_min = 10ms, .pause_max = 10ms});
  std::vector<Message> batch{message("dead", "{}", "c-7")};
  std::vector<std::string> expected{"dead"};
  for (int i = 0; i < 40; ++i) {
    expected.push_back(std::to_string(i));
    batch.push_back(message(expected.back(), "{}", "c-7"));
  }

  deal(batch, ordered());
  ASSERT_TRUE(soon([&] { return count_of(task::State::kDead) == 1; }));
  EXPECT_TRUE(soon([&] { return count_of(task::State::kPending) >= 35; }));
  for (const task::Task& task : tasks()) {
    if (task.state != task::State::kDead) continue;
    task::Order order;
    order.move = task::Move::kIgnore;
    ASSERT_TRUE(door_.opened().store().control(std::vector{task.id}, order, "joe", 1s));
  }

  EXPECT_TRUE(soon([&] { return count_of(task::State::kSucceeded) == 40; }));
  EXPECT_EQ(ran(), expected);
}

TEST_F(MessageOrder, ADeadHeadIsSkippedWhereThatIsWanted) {
  start({.skips_dead_heads = true, .pause_min = 20ms});

  deal({message("dead", "{}", "c-7"), message("2", "{}", "c-7")}, ordered());

  EXPECT_TRUE(soon([&] { return count_of(task::State::kSucceeded) == 1; }));
  EXPECT_THAT(ran(), ElementsAre("dead", "2"));
}

class MessageReplay : public MessageHandOver {
 protected:
  // Every run fails; `publish` says what the broker answers.
  void start(message::Publish publish) {
    door_.handle(message::replay_retries(MessageDoor::handler_of([&](const task::Task& task) {
                                           note(id_of(task) + std::to_string(task.retries));
                                           return failed("connection refused");
                                         }),
                                         {.inbox = door_.opened().inbox(),
                                          .log = log_,
                                          .publish = std::move(publish),
                                          .pause = 20ms}));
  }
  static message::HandOverSettings two_retries() {
    message::HandOverSettings settings = message_settings();
    settings.handling.max_retries = 2;
    return settings;
  }
  // As its consumer gets it.
  void deliver(const Outgoing& outgoing) {
    Message again = message(outgoing.id, outgoing.body);
    again.headers = outgoing.headers;
    deal({again}, two_retries());
  }
};

// MSG-13: the retry's action is to publish it again; it ends with a person after as many retries.
TEST_F(MessageReplay, ARetryIsPublishedAgainUntilItsRetriesAreUsedUp) {
  std::atomic<int> asked = 0;
  start([&](const Outgoing& outgoing) -> Result<> {
    if (++asked == 1) return fail(ErrorCode::kUnavailable, "no broker");
    deliver(outgoing);
    return {};
  });

  deal({message("a")}, two_retries());

  EXPECT_TRUE(soon([&] { return count_of(task::State::kDead) == 1; }));
  EXPECT_THAT(ran(), ElementsAre("a0", "a1", "a2"));
  EXPECT_EQ(count_of(task::State::kSucceeded), 0U) << "nothing was processed";
  EXPECT_TRUE(soon([&] { return count_of(task::State::kCancelled) == 2; }))
      << "those that were published have ended";
  EXPECT_THAT(log_.lines(), Contains(HasSubstr("message_replayed message=a")).Times(2));
  EXPECT_EQ(asked, 3) << "the broker's trouble uses up no retry";
}

// I12: what was published without an answer is not published again once its copy was consumed.
TEST_F(MessageReplay, ACopyThatWasConsumedIsTheLast) {
  std::atomic<int> asked = 0;
  start([&](const Outgoing& outgoing) -> Result<> {
    deliver(outgoing);
    return ++asked == 1 ? fail(ErrorCode::kInDoubt, "no answer") : Result<>();
  });

  deal({message("a")}, two_retries());

  EXPECT_TRUE(soon(
      [&] { return count_of(task::State::kDead) == 1 && count_of(task::State::kCancelled) == 2; }));
  EXPECT_THAT(ran(), ElementsAre("a0", "a1", "a2"));
  EXPECT_THAT(tasks(), SizeIs(3));
  EXPECT_EQ(asked, 2);
}

}  // namespace
}  // namespace recourse::tests

// A feeder between a broker in memory and what deals with messages. MSG-12
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <functional>
#include <latch>
#include <stdexcept>
#include <thread>

#include "message/feeder.h"
#include "tests/support/message_test_source.h"

namespace recourse::tests {

namespace {

using message::Deal;
using message::Dealing;
using message::Feeder;
using message::FeederSettings;
using namespace std::chrono_literals;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

bool comes_true(const std::function<bool()>& holds) {
  const auto until = std::chrono::steady_clock::now() + 20s;
  while (!holds()) {
    if (std::chrono::steady_clock::now() > until) return false;
    std::this_thread::sleep_for(1ms);
  }
  return true;
}

std::vector<Dealing> all(std::span<const Message> batch, Dealing dealing) {
  return std::vector(batch.size(), dealing);
}

class FeederTest : public ::testing::Test {
 protected:
  std::unique_ptr<Feeder> feed(Deal deal, FeederSettings settings = {}) {
    auto feeder = std::make_unique<Feeder>("shop", std::make_unique<TestSource>(broker_),
                                           std::move(settings), std::move(deal), log_);
    feeder->start();
    return feeder;
  }
  [[nodiscard]] std::size_t acknowledged() const { return broker_->books().acknowledged.size(); }
  [[nodiscard]] std::size_t lines_with(const std::string& word) const {
    const auto lines = log_.lines();
    return static_cast<std::size_t>(std::ranges::count_if(
        lines, [&](const std::string& line) { return line.find(word) != std::string::npos; }));
  }

  std::shared_ptr<TestBroker> broker_ = std::make_shared<TestBroker>();
  MemoryLog log_;
};

TEST_F(FeederTest, AcknowledgesWhatIsDoneInOrder) {
  const auto feeder = feed([](std::span<const Message> batch, const std::stop_token&) {
    return all(batch, Dealing::kDone);
  });

  for (const char* id : {"a", "b", "c"}) broker_->add(id);

  EXPECT_TRUE(comes_true([&] { return feeder->figures().acknowledged == 3; }));
  EXPECT_THAT(broker_->books().acknowledged, ElementsAre("a", "b", "c"));
  EXPECT_EQ(feeder->figures().received, 3U);
  EXPECT_TRUE(feeder->figures().connected);
  EXPECT_TRUE(feeder->figures().last_received_at);
  EXPECT_THAT(feeder->figures().trouble, IsEmpty());
}

// MSG-12: the store is down, and comes back.
TEST_F(FeederTest, NothingIsAcknowledgedWhileItCannotBeRecorded) {
  std::atomic<int> calls = 0;
  std::atomic<bool> is_down = true;
  const auto feeder = feed(
      [&](std::span<const Message> batch, const std::stop_token&) -> Result<std::vector<Dealing>> {
        ++calls;
        if (is_down) return fail(ErrorCode::kUnavailable, "no store");
        return all(batch, Dealing::kDone);
      });
  broker_->add("a");

  EXPECT_TRUE(comes_true([&] { return calls >= 3; }));
  EXPECT_EQ(acknowledged(), 0U);
  EXPECT_EQ(feeder->figures().trouble, "no store");
  EXPECT_EQ(lines_with("no store"), 1U) << "told once";
  is_down = false;

  EXPECT_TRUE(comes_true([&] { return acknowledged() == 1; }));
  EXPECT_THAT(feeder->figures().trouble, IsEmpty());
  EXPECT_GE(feeder->figures().errors, 3U);
}

TEST_F(FeederTest, WhatIsNotYetRecordedIsDealtWithAgainAndTheOthersAreDone) {
  std::atomic<int> late = 0;
  const auto feeder = feed([&](std::span<const Message> batch, const std::stop_token&) {
    std::vector<Dealing> dealings;
    for (const Message& message : batch) {
      const bool waits = message.id == "b" && ++late < 3;
      dealings.push_back(waits ? Dealing::kNotYet : Dealing::kDone);
    }
    return Result<std::vector<Dealing>>(dealings);
  });
  for (const char* id : {"a", "b", "c"}) broker_->add(id);

  EXPECT_TRUE(comes_true([&] { return acknowledged() == 3; }));
  EXPECT_EQ(late, 3);
}

TEST_F(FeederTest, OneThatIsRefusedIsKeptForAWhileAndGivenBack) {
  std::atomic<int> seen = 0;
  const auto feeder = feed(
      [&](std::span<const Message> batch, const std::stop_token&) {
        std::vector<Dealing> dealings;
        for (const Message& message : batch) {
          const bool is_bad = message.id == "bad";
          const Dealing bad = is_bad && ++seen > 1 ? Dealing::kRefusedAgain : Dealing::kRefused;
          dealings.push_back(is_bad ? bad : Dealing::kDone);
        }
        return Result<std::vector<Dealing>>(dealings);
      },
      {.refused_pause = 100ms});
  broker_->add("bad");
  broker_->add("good");

  EXPECT_TRUE(comes_true([&] { return acknowledged() == 1; }));
  EXPECT_THAT(broker_->books().given_back, IsEmpty()) << "not before its time";
  EXPECT_TRUE(comes_true([&] { return seen >= 2; })) << "it comes again";
  EXPECT_THAT(broker_->books().acknowledged, ElementsAre("good"));
  EXPECT_EQ(feeder->figures().refused, 1U) << "one message, however often it comes";
}

// The broker must hear of us, however long a handler takes.
TEST_F(FeederTest, TheBrokerIsLookedAfterWhileAHandlerRunsAndAFewBatchesAreOut) {
  std::latch go(1);
  // Before anybody looks: batches are whole then.
  for (int i = 0; i < 20; ++i) broker_->add(std::to_string(i));
  const auto feeder = feed(
      [&](std::span<const Message> batch, const std::stop_token&) {
        go.wait();
        return all(batch, Dealing::kDone);
      },
      {.batch = 2});

  EXPECT_TRUE(comes_true([&] { return broker_->books().looked_after >= 3; }));
  EXPECT_EQ(broker_->books().out, 10U) << "one batch is dealt with, and four wait";
  go.count_down();

  EXPECT_TRUE(comes_true([&] { return acknowledged() == 20; }));
}

TEST_F(FeederTest, NothingIsTakenWhileTooMuchWaits) {
  std::atomic<bool> is_full = true;
  const auto feeder = feed([](std::span<const Message> batch,
                              const std::stop_token&) { return all(batch, Dealing::kDone); },
                           {.is_full = [&] { return is_full.load(); }});
  broker_->add("a");

  EXPECT_TRUE(comes_true([&] { return broker_->books().looked_after >= 2; }));
  EXPECT_EQ(feeder->figures().received, 0U);
  EXPECT_TRUE(feeder->figures().is_full);
  EXPECT_THAT(feeder->figures().trouble, HasSubstr("too much waits"));
  is_full = false;

  EXPECT_TRUE(comes_true([&] { return acknowledged() == 1; }));
}

TEST_F(FeederTest, ABrokerThatIsDownIsToldOnceAndTriedAgain) {
  broker_->set_down(true);
  const auto feeder = feed([](std::span<const Message> batch, const std::stop_token&) {
    return all(batch, Dealing::kDone);
  });

  EXPECT_TRUE(comes_true([&] { return feeder->figures().errors >= 3; }));
  EXPECT_FALSE(feeder->figures().connected);
  EXPECT_EQ(feeder->figures().trouble, "the broker is down");
  EXPECT_EQ(lines_with("message_source_failed"), 1U);
  broker_->set_down(false);
  broker_->add("a");

  EXPECT_TRUE(comes_true([&] { return acknowledged() == 1; }));
  EXPECT_EQ(lines_with("message_source_back"), 1U);
}

TEST_F(FeederTest, StoppedItWaitsForWhatIsBeingDealtWithAndGivesTheRestBack) {
  std::latch begun(1);
  for (int i = 0; i < 5; ++i) broker_->add(std::to_string(i));
  const auto feeder = feed(
      [&](std::span<const Message> batch, const std::stop_token& stop) {
        begun.count_down();
        while (!stop.stop_requested()) std::this_thread::sleep_for(1ms);
        return all(batch, Dealing::kDone);
      },
      {.batch = 2});
  begun.wait();

  feeder->stop(10s);

  const auto books = broker_->books();
  EXPECT_THAT(books.acknowledged, ElementsAre("0", "1"));
  EXPECT_EQ(books.waiting, 3U);
  EXPECT_TRUE(books.is_closed);
}

TEST_F(FeederTest, StoppedAndLateItsVerdictsAreNotTold) {
  std::latch begun(1);
  std::latch go(1);
  auto feeder = feed([&](std::span<const Message> batch, const std::stop_token&) {
    begun.count_down();
    go.wait();
    return all(batch, Dealing::kDone);
  });
  broker_->add("a");
  begun.wait();

  feeder->stop(50ms);
  EXPECT_EQ(broker_->books().waiting, 1U) << "given back";
  go.count_down();
  feeder.reset();

  EXPECT_THAT(broker_->books().acknowledged, IsEmpty());
}

// What a deal uses may go once it is joined, and not when it was stopped.
TEST_F(FeederTest, JoinedNothingIsBeingDealtWithAnyMore) {
  std::latch begun(1);
  std::latch go(1);
  std::atomic<bool> has_ended = false;
  const auto feeder = feed([&](std::span<const Message> batch, const std::stop_token&) {
    begun.count_down();
    go.wait();
    has_ended = true;
    return all(batch, Dealing::kDone);
  });
  broker_->add("a");
  begun.wait();
  feeder->stop(Duration::zero());
  EXPECT_FALSE(has_ended);

  std::jthread opener([&] { go.count_down(); });
  feeder->join();

  EXPECT_TRUE(has_ended);
}

TEST_F(FeederTest, StopsWhileTheStoreIsDown) {
  std::atomic<int> calls = 0;
  const auto feeder =
      feed([&](std::span<const Message>, const std::stop_token&) -> Result<std::vector<Dealing>> {
        ++calls;
        return fail(ErrorCode::kUnavailable, "no store");
      });
  broker_->add("a");
  ASSERT_TRUE(comes_true([&] { return calls >= 2; }));

  feeder->stop(10s);

  EXPECT_THAT(broker_->books().given_back, ElementsAre("a"));
  EXPECT_THAT(broker_->books().acknowledged, IsEmpty());
}

TEST_F(FeederTest, WhatADealThrowsAcknowledgesNothing) {
  std::atomic<int> calls = 0;
  const auto feeder = feed([&](std::span<const Message> batch, const std::stop_token&) {
    if (++calls < 3) throw std::runtime_error("a bug");
    return all(batch, Dealing::kDone);
  });
  broker_->add("a");

  EXPECT_TRUE(comes_true([&] { return acknowledged() == 1; }));
  EXPECT_THAT(log_.lines(), Contains(HasSubstr("a bug")));
}

TEST_F(FeederTest, PublishesForOthersWhileItRuns) {
  const std::vector<Outgoing> messages{{.topic = "orders", .id = "again"}};
  auto feeder = std::make_unique<Feeder>(
      "shop", std::make_unique<TestSource>(broker_), FeederSettings{},
      [](std::span<const Message> batch, const std::stop_token&) {
        return all(batch, Dealing::kDone);
      },
      log_);

  EXPECT_EQ(feeder->publish(messages, 1s).error().code, ErrorCode::kUnavailable);
  feeder->start();
  EXPECT_TRUE(feeder->publish(messages, 10s));
  feeder->stop(1s);
  EXPECT_EQ(feeder->publish(messages, 1s).error().code, ErrorCode::kUnavailable);
  EXPECT_THAT(broker_->books().published, ElementsAre("again"));
}

TEST_F(FeederTest, OneThatWasNeverStartedGoesQuietly) {
  const Feeder feeder(
      "shop", std::make_unique<TestSource>(broker_), {},
      [](std::span<const Message> batch, const std::stop_token&) {
        return all(batch, Dealing::kDone);
      },
      log_);
  EXPECT_EQ(feeder.name(), "shop");
}

}  // namespace
}  // namespace recourse::tests

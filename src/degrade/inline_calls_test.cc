#include "degrade/inline_calls.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <latch>
#include <stdexcept>
#include <thread>

#include "base/manual_clock.h"
#include "degrade/downstream.h"

namespace recourse::degrade {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;

void until_stopped(const std::stop_token& stop) {
  std::latch stopped(1);
  const std::stop_callback heard(stop, [&] { stopped.count_down(); });
  stopped.wait();
}

TEST(InlineCalls, AnswerHowItWent) {
  InlineCalls calls(2);

  EXPECT_TRUE(calls.run([](const std::stop_token&) { return Result<>(); }, 10s).worked());
  EXPECT_EQ(
      calls
          .run([](const std::stop_token&) -> Result<> { return fail(ErrorCode::kInvalid, "no"); },
               10s)
          .failure,
      "no");
  EXPECT_EQ(
      calls.run([](const std::stop_token&) -> Result<> { throw std::runtime_error("broken"); }, 10s)
          .failure,
      "broken");
  EXPECT_FALSE(calls.run([](const std::stop_token&) -> Result<> { throw 7; }, 10s).worked());
}

// DEGR-1: the caller is not held up, and what it leaves behind owns all that it uses.
TEST(InlineCalls, OneThatOverrunsIsLeftBehindAndAskedToStop) {
  const auto owned = std::make_shared<std::latch>(1);
  InlineCalls calls(1);

  const InlineOutcome outcome = calls.run(
      [owned](const std::stop_token& stop) {
        until_stopped(stop);
        owned->count_down();
        return Result<>();
      },
      20ms);

  EXPECT_THAT(outcome.failure, HasSubstr("no answer within 20ms"));
  EXPECT_GE(outcome.took, 20ms);
  owned->wait();
}

TEST(InlineCalls, OneThatFindsNoThreadIsNeverCalled) {
  InlineCalls calls(1);
  std::latch entered(1);
  std::latch go(1);
  std::jthread first([&] {
    (void)calls.run(
        [&](const std::stop_token&) {
          entered.count_down();
          go.wait();
          return Result<>();
        },
        10s);
  });
  entered.wait();
  const auto called = std::make_shared<std::atomic<bool>>(false);

  const InlineOutcome outcome = calls.run(
      [called](const std::stop_token&) {
        *called = true;
        return Result<>();
      },
      10ms);
  go.count_down();
  first.join();

  EXPECT_THAT(outcome.failure, HasSubstr("no free thread"));
  // It would be the next.
  EXPECT_TRUE(calls.run([](const std::stop_token&) { return Result<>(); }, 10s).worked());
  EXPECT_FALSE(*called);
}

// However many hang: those that wait for a thread are bounded too.
TEST(InlineCalls, TooManyAreTurnedAwayAtOnce) {
  InlineCalls calls(1);
  int turned_away = 0;
  for (int i = 0; i < 20; ++i) {
    if (!calls.run_apart(
            [](const std::stop_token& stop) {
              until_stopped(stop);
              return Result<>();
            },
            nullptr)) {
      ++turned_away;
    }
  }

  EXPECT_EQ(turned_away, 20 - 9);
  EXPECT_THAT(calls.run([](const std::stop_token&) { return Result<>(); }, 10s).failure,
              HasSubstr("too many calls hang"));
}

class DownstreamTest : public ::testing::Test {
 protected:
  bool is_spared() {
    const Downstream::Answer answer = downstream_.call(dead_);
    if (answer.probe) downstream_.probe(dead_, *answer.probe);
    return !answer.was_tried;
  }

  std::atomic<int> calls_ = 0;
  std::atomic<bool> is_well_ = false;
  InlineAction dead_ = [this](const std::stop_token&) -> Result<> {
    ++calls_;
    if (is_well_) return {};
    return fail(ErrorCode::kUnavailable, "dead");
  };
  ManualClock clock_{TimePoint()};
  MemoryLog log_;
  Downstream downstream_{
      "points",
      {.limit = 50ms,
       .threads = 4,
       .breaker = {.window_calls = 10, .min_calls = 5, .open_for = 20ms, .probes = 1}},
      clock_,
      log_};
};

// DEGR-1: a dead downstream costs its callers nothing after a few calls.
TEST_F(DownstreamTest, ADeadOneIsNotCalledAnyMore) {
  for (int i = 0; i < 5; ++i) EXPECT_FALSE(is_spared());

  EXPECT_TRUE(is_spared());
  EXPECT_THAT(log_.lines(), ::testing::Contains(HasSubstr("degrade_breaker_opened")));
}

// Its callers are spared all the same: the probe runs beside them.
TEST_F(DownstreamTest, IsLookedAtAgainAndUsedOnceItIsWell) {
  for (int i = 0; i < 5; ++i) EXPECT_FALSE(is_spared());
  is_well_ = true;

  clock_.advance(20ms);

  EXPECT_TRUE(is_spared());
  while (is_spared()) std::this_thread::yield();

  EXPECT_FALSE(is_spared());
  EXPECT_THAT(log_.lines(), ::testing::Contains(HasSubstr("degrade_breaker_closed")));
}

TEST_F(DownstreamTest, AProbeThatHangsIsAFailedOneAndAnotherFollows) {
  for (int i = 0; i < 5; ++i) EXPECT_FALSE(is_spared());
  const InlineAction hangs = [this](const std::stop_token& stop) {
    ++calls_;
    until_stopped(stop);
    return Result<>();
  };
  for (const int probe : {1, 2}) {
    clock_.advance(20ms);
    const Downstream::Answer answer = downstream_.call(hangs);
    EXPECT_FALSE(answer.was_tried);
    ASSERT_TRUE(answer.probe) << probe;
    downstream_.probe(hangs, *answer.probe);
    EXPECT_FALSE(downstream_.call(hangs).probe) << "one at a time";
    clock_.advance(51ms);
    EXPECT_FALSE(downstream_.call(hangs).probe) << "its time is up: open again";
  }
}

}  // namespace
}  // namespace recourse::degrade

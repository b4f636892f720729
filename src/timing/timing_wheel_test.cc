#include "timing/timing_wheel.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <deque>
#include <string>
#include <vector>

namespace recourse::timing {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::IsEmpty;

const TimePoint kStart{1'700'000'000s};

struct Named : Timer {
  explicit Named(std::string n) : name(std::move(n)) {}
  std::string name;
};

std::vector<std::string> advance(TimingWheel& wheel, TimePoint now) {
  std::vector<std::string> fired;
  wheel.advance_to(now, [&](Timer& timer) { fired.push_back(static_cast<Named&>(timer).name); });
  return fired;
}

class Wheel : public testing::Test {
 protected:
  Named a_{"a"}, b_{"b"}, c_{"c"};
  TimingWheel wheel_{kStart, {}};
};

TEST_F(Wheel, YieldsAtTheEndOfTheTickAndNeverEarly) {
  ASSERT_TRUE(wheel_.schedule(a_, kStart + 150ms));

  EXPECT_EQ(wheel_.next_wakeup(), kStart + 200ms);
  EXPECT_THAT(advance(wheel_, kStart + 149ms), IsEmpty());
  EXPECT_THAT(advance(wheel_, kStart + 200ms), ElementsAre("a"));
  EXPECT_EQ(wheel_.next_wakeup(), std::nullopt);
}

TEST_F(Wheel, WhatIsDueOnTheTickIsYieldedThen) {
  ASSERT_TRUE(wheel_.schedule(a_, kStart + 100ms));
  ASSERT_TRUE(wheel_.schedule(b_, kStart + 100ms + 1us));

  EXPECT_THAT(advance(wheel_, kStart + 100ms), ElementsAre("a"));
  EXPECT_THAT(advance(wheel_, kStart + 200ms), ElementsAre("b"));
}

TEST_F(Wheel, YieldsInOrderOfTimeAlsoWithinATick) {
  ASSERT_TRUE(wheel_.schedule(a_, kStart + 190ms));
  ASSERT_TRUE(wheel_.schedule(b_, kStart + 110ms));
  ASSERT_TRUE(wheel_.schedule(c_, kStart + 150ms));

  EXPECT_THAT(advance(wheel_, kStart + 1s), ElementsAre("b", "c", "a"));
}

TEST_F(Wheel, WhatIsOverdueWhenScheduledNeedsNoTickAndKeepsTheOrder) {
  advance(wheel_, kStart + 50ms);
  ASSERT_TRUE(wheel_.schedule(a_, kStart + 80ms));
  advance(wheel_, kStart + 90ms);
  ASSERT_TRUE(wheel_.schedule(b_, kStart + 90ms));
  ASSERT_TRUE(wheel_.schedule(c_, kStart - 1h));

  EXPECT_EQ(wheel_.next_wakeup(), kStart + 90ms);
  EXPECT_THAT(advance(wheel_, kStart + 100ms), ElementsAre("c", "a", "b"));
}

TEST_F(Wheel, ACancelledTimerIsNotYielded) {
  ASSERT_TRUE(wheel_.schedule(a_, kStart + 1s));

  EXPECT_TRUE(wheel_.cancel(a_));

  EXPECT_FALSE(wheel_.cancel(a_));
  EXPECT_EQ(wheel_.pending(), 0U);
  EXPECT_EQ(wheel_.next_wakeup(), std::nullopt);
  EXPECT_THAT(advance(wheel_, kStart + 1h), IsEmpty());
}

TEST_F(Wheel, SchedulingAgainMovesATimer) {
  ASSERT_TRUE(wheel_.schedule(a_, kStart + 1s));
  ASSERT_TRUE(wheel_.schedule(a_, kStart + 5s));

  EXPECT_EQ(wheel_.pending(), 1U);
  EXPECT_THAT(advance(wheel_, kStart + 4s), IsEmpty());
  EXPECT_THAT(advance(wheel_, kStart + 5s), ElementsAre("a"));
}

TEST_F(Wheel, NextWakeupIsExactHoursAhead) {
  const Duration delay = 30h + 123'456us;
  ASSERT_TRUE(wheel_.schedule(a_, kStart + 40h));
  ASSERT_TRUE(wheel_.schedule(b_, kStart + delay));
  EXPECT_EQ(wheel_.next_wakeup(), kStart + 30h + 200ms);

  wheel_.cancel(b_);

  EXPECT_EQ(wheel_.next_wakeup(), kStart + 40h);
  EXPECT_THAT(advance(wheel_, kStart + 40h - 1us), IsEmpty());
  EXPECT_THAT(advance(wheel_, kStart + 40h), ElementsAre("a"));
}

TEST_F(Wheel, TheEndOfTimeIsATimeLikeAnyOther) {
  ASSERT_TRUE(wheel_.schedule(a_, kNever));

  EXPECT_THAT(advance(wheel_, kNever - 1h), IsEmpty());
  EXPECT_EQ(wheel_.next_wakeup(), kNever);
  wheel_.cancel(a_);
}

TEST_F(Wheel, AFullWheelRefusesAndStillMoves) {
  TimingWheel wheel(kStart, {.max_pending = 2});
  ASSERT_TRUE(wheel.schedule(a_, kStart + 1s));
  ASSERT_TRUE(wheel.schedule(b_, kStart + 2s));

  EXPECT_FALSE(wheel.schedule(c_, kStart + 3s));

  EXPECT_FALSE(c_.waiting());
  EXPECT_TRUE(wheel.schedule(a_, kStart + 4s));
  EXPECT_THAT(advance(wheel, kStart + 2s), ElementsAre("b"));
  EXPECT_TRUE(wheel.schedule(c_, kStart + 3s));
}

TEST_F(Wheel, AnEarlierNowCountsAsTheLatestSeen) {
  advance(wheel_, kStart + 10s);
  advance(wheel_, kStart + 1s);
  ASSERT_TRUE(wheel_.schedule(a_, kStart + 5s));

  EXPECT_EQ(wheel_.next_wakeup(), kStart + 10s) << "overdue already";
  EXPECT_THAT(advance(wheel_, kStart + 1s), ElementsAre("a"));
}

TEST_F(Wheel, WhatFiresMayScheduleAndCancelOthers) {
  Named later("later");
  ASSERT_TRUE(wheel_.schedule(a_, kStart + 110ms));
  ASSERT_TRUE(wheel_.schedule(b_, kStart + 120ms));
  ASSERT_TRUE(wheel_.schedule(c_, kStart + 300ms));
  std::vector<std::string> fired;

  wheel_.advance_to(kStart + 1s, [&](Timer& timer) {
    fired.push_back(static_cast<Named&>(timer).name);
    if (&timer != &a_) return;
    EXPECT_TRUE(wheel_.cancel(b_));                         // would have fired next
    EXPECT_TRUE(wheel_.schedule(c_, kStart + 2s));          // would have fired in this call
    EXPECT_TRUE(wheel_.schedule(later, kStart + 1s));       // due already: the next call's
    EXPECT_TRUE(wheel_.schedule(a_, kStart + 1s + 100ms));  // itself again
  });

  EXPECT_THAT(fired, ElementsAre("a"));
  EXPECT_EQ(wheel_.next_wakeup(), kStart + 1s);
  EXPECT_THAT(advance(wheel_, kStart + 2s), ElementsAre("later", "a", "c"));
}

TEST_F(Wheel, WhatAnOverdueTimerSchedulesKeepsItsOrderAcrossLevels) {
  const TimePoint border = kStart + 51'200ms;  // where the second level's first slot begins
  advance(wheel_, border - 100ms);
  ASSERT_TRUE(wheel_.schedule(a_, border - 100ms));

  wheel_.advance_to(border, [&](Timer&) { EXPECT_TRUE(wheel_.schedule(b_, border + 10s)); });
  ASSERT_TRUE(wheel_.schedule(c_, border + 40s));

  EXPECT_EQ(wheel_.next_wakeup(), border + 10s);
  EXPECT_THAT(advance(wheel_, border + 40s), ElementsAre("b", "c"));
}

TEST_F(Wheel, OneThatFiresMayDestroyTheNext) {
  std::deque<Named> timers;
  timers.emplace_back("first");
  timers.emplace_back("second");
  ASSERT_TRUE(wheel_.schedule(timers[0], kStart + 10ms));
  ASSERT_TRUE(wheel_.schedule(timers[1], kStart + 20ms));
  int fired = 0;

  wheel_.advance_to(kStart + 1s, [&](Timer&) {
    ++fired;
    wheel_.cancel(timers.back());
    timers.pop_back();
  });

  EXPECT_EQ(fired, 1);
}

TEST_F(Wheel, MovingTimersOnForEverKeepsWorking) {
  ASSERT_TRUE(wheel_.schedule(a_, kStart + 1h));
  TimePoint now = kStart;

  for (int i = 0; i < 5'000; ++i) {
    now += 700ms;
    ASSERT_TRUE(wheel_.schedule(a_, now + 1h));
    ASSERT_THAT(advance(wheel_, now), IsEmpty());
  }

  EXPECT_EQ(wheel_.next_wakeup(), kStart + 3'500s + 1h);
}

TEST(WheelLife, ADestroyedWheelLetsGoOfItsTimers) {
  Named timer("t");
  {
    TimingWheel wheel(kStart, {});
    ASSERT_TRUE(wheel.schedule(timer, kStart + 1h));
  }
  EXPECT_FALSE(timer.waiting());
}

TEST(WheelLife, ATimerDestroyedWhileItWaitsStopsTheProcess) {
  TimingWheel wheel(kStart, {});

  EXPECT_DEATH(
      {
        Named timer("t");
        (void)wheel.schedule(timer, kStart + 1h);
      },
      "cancelled before it is destroyed");
}

TEST(WheelSettings, TheDefaultsAreThoseOfTheSources) {
  const WheelSettings settings;

  EXPECT_EQ(settings.tick, 100ms);
  EXPECT_EQ(settings.slots, 512U);
  EXPECT_EQ(settings.max_pending, 100'000U);
  EXPECT_TRUE(validate(settings));
}

TEST(WheelSettings, BadOnesAreRefusedByNameAndRange) {
  const Result<> result = validate({.tick = -100ms, .slots = 0, .max_pending = 0});

  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().message,
            "wheel.tick must be between 1ms and 1h, not -100ms; "
            "wheel.slots must be between 2 and 4096, not 0; "
            "wheel.max_pending must be between 1 and 100000000, not 0");
}

TEST_F(Wheel, AdvancingFromWithinATimerStopsTheProcess) {
  ASSERT_TRUE(wheel_.schedule(a_, kStart + 100ms));

  EXPECT_DEATH(wheel_.advance_to(kStart + 1s, [&](Timer&) { advance(wheel_, kStart + 2s); }),
               "not called from the timers it fires");

  wheel_.cancel(a_);
}

TEST(WheelLife, TheFinestWheelReachesTheEndOfTime) {
  Named timer("t");
  {
    TimingWheel wheel(TimePoint(), {.tick = 1ms, .slots = 2});
    ASSERT_TRUE(wheel.schedule(timer, kNever));
    EXPECT_EQ(wheel.next_wakeup(), kNever);
  }
  EXPECT_FALSE(timer.waiting());
}

TEST(WheelLife, AStartBefore1970StopsTheProcess) {
  EXPECT_DEATH(TimingWheel(TimePoint(-1us), {}), "a wheel starts after 1970");
}

TEST(Slot, GivesAnEmptyBlockBackForTheNext) {
  BlockPool pool;
  Block& block = pool.take();
  pool.give_back(block);
  Slot slot(0);
  Named timer("t");

  slot.add({kStart, &timer}, pool);
  slot.remove(timer, pool);

  EXPECT_EQ(&pool.take(), &block);
}

}  // namespace
}  // namespace recourse::timing

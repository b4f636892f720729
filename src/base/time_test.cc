#include "base/time.h"

#include <gtest/gtest.h>

#include <limits>

#include "base/function_ref.h"
#include "base/invariant.h"
#include "base/manual_clock.h"

namespace recourse {
namespace {

using namespace std::chrono_literals;

static_assert(saturating_add(TimePoint(5s), 3s) == TimePoint(8s));
static_assert(saturating_add(kNever, 1s) == kNever);
static_assert(saturating_add(TimePoint(5s), Duration::max()) == kNever);
static_assert(saturating_add(TimePoint::min(), -1s) == TimePoint::min());
static_assert(saturating_multiply(3s, 4) == 12s);
static_assert(saturating_multiply(Duration::max(), 2) == Duration::max());
static_assert(saturating_multiply(Duration::max(), -2) == Duration::min());
static_assert(saturating_scale(3s, 0.5) == Duration(1'500'000));
static_assert(saturating_scale(3s, -1) == Duration::zero());
static_assert(saturating_scale(Duration::max(), 1) == Duration::max());
static_assert(saturating_scale(3s, 1e300) == Duration::max());

TEST(Time, WhatIsNotANumberTimesAsLongIsNothing) {
  EXPECT_EQ(saturating_scale(3s, std::numeric_limits<double>::quiet_NaN()), Duration::zero());
}

TEST(ManualClock, MovesBothTimesOnlyWhenTold) {
  ManualClock clock(TimePoint(100s));
  const BootTime before = clock.since_boot();

  clock.advance(5s);

  EXPECT_EQ(clock.now(), TimePoint(105s));
  EXPECT_EQ(clock.since_boot() - before, 5s);
}

TEST(ManualClock, AWallClockThatJumpsLetsNoTimePass) {
  ManualClock clock(TimePoint(100s));
  const BootTime before = clock.since_boot();

  clock.jump_wall(-1h);

  EXPECT_EQ(clock.now(), TimePoint(100s - 1h));
  EXPECT_EQ(clock.since_boot(), before);
}

TEST(SteadyTime, GoesOnWhateverHappensToTheWallClock) {
  ManualClock clock(TimePoint(100s));
  const SteadyTime time(clock);

  clock.advance(5s);
  clock.jump_wall(-1h);
  clock.advance(5s);

  EXPECT_EQ(time.now(), TimePoint(110s));
}

TEST(Invariant, ABrokenOneStopsTheProcessAndSaysWhichInEveryBuild) {
  EXPECT_DEATH(invariant(false, "a task has one owner"),
               "time_test.cc.*invariant broken: a task has one owner");
}

TEST(FunctionRef, CallsWhatItRefersTo) {
  int calls = 0;
  const auto twice = [](FunctionRef<void(int)> f) {
    f(1);
    f(2);
  };

  twice([&](int by) { calls += by; });

  EXPECT_EQ(calls, 3);
}

}  // namespace
}  // namespace recourse

#include "policy/rolling_window.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <vector>

#include "policy/call_window.h"
#include "policy/test_moments.h"

namespace recourse::policy {
namespace {

using namespace std::chrono_literals;

constexpr CallCounts kCall{.calls = 1, .failed = 0, .slow = 0};

TEST(RollingWindow, ForgetsSliceBySlice) {
  TimeWindow window(10s);
  window.add(kStart, kCall);
  window.add(kStart + 5s, kCall);

  EXPECT_EQ(window.total(kStart + 9s).calls, 2);
  EXPECT_EQ(window.total(kStart + 10s).calls, 1);
  EXPECT_EQ(window.total(kStart + 15s).calls, 0);
}

TEST(RollingWindow, ALongSilenceForgetsEverythingAtNoCost) {
  TimeWindow window(10s);
  window.add(kStart, kCall);

  EXPECT_EQ(window.total(kStart + 1'000'000h).calls, 0);
}

TEST(RollingWindow, TimeThatGoesBackwardsStandsStill) {
  TimeWindow window(10s);
  window.add(kStart + 100s, kCall);
  window.add(kStart, kCall);

  EXPECT_EQ(window.total(kStart + 100s).calls, 2);
}

RC_GTEST_PROP(RollingWindow, CountsTheWindowAndAtMostASliceLess, ()) {
  TimeWindow window(1s);
  std::vector<TimePoint> calls;
  TimePoint now = kStart;

  for (const int wait : *rc::gen::container<std::vector<int>>(rc::gen::inRange(0, 500))) {
    now += wait * 1ms;
    window.add(now, kCall);
    calls.push_back(now);

    const auto newer_than = [&](Duration age) {
      return std::ranges::count_if(calls, [&](TimePoint at) { return at > now - age; });
    };
    RC_ASSERT(window.total(now).calls >= newer_than(900ms));
    RC_ASSERT(window.total(now).calls <= newer_than(1s));
  }
}

RC_GTEST_PROP(CountWindow, SumsTheLastCalls, ()) {
  const auto size = *rc::gen::inRange<std::size_t>(1, 20);
  const auto failures = *rc::gen::arbitrary<std::vector<bool>>();
  CountWindow window(size);

  for (std::size_t i = 0; i < failures.size(); ++i) {
    window.add(kStart, {.calls = 1, .failed = failures[i] ? 1 : 0, .slow = 0});
    CallCounts expected;
    for (std::size_t j = i + 1 > size ? i + 1 - size : 0; j <= i; ++j) {
      expected += {.calls = 1, .failed = failures[j] ? 1 : 0, .slow = 0};
    }
    RC_ASSERT(window.total(kStart) == expected);
  }
}

TEST(RollingWindow, ASilenceOfAnyLengthForgetsEverything) {
  for (int silence = 10; silence < 40; ++silence) {
    TimeWindow window(10s);
    window.add(kStart, kCall);

    EXPECT_EQ(window.total(kStart + silence * 1s).calls, 0) << silence << " s";
  }
}

TEST(RollingWindow, ATimeBefore1970IsForgottenLikeAnyOther) {
  TimeWindow window(10s);
  window.add(TimePoint(-1h), kCall);

  EXPECT_EQ(window.total(kStart).calls, 0);
}

TEST(CountWindow, ForgetsEverythingAboutTheOldestCall) {
  CountWindow window(1);
  window.add(kStart, {.calls = 1, .failed = 1, .slow = 1});

  window.add(kStart, kCall);

  EXPECT_EQ(window.total(kStart), kCall);
}

}  // namespace
}  // namespace recourse::policy

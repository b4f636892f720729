#include "policy/token_bucket.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <vector>

#include "policy/test_moments.h"

namespace recourse::policy {
namespace {

using namespace std::chrono_literals;

TEST(TokenBucket, GivesABurstAndThenItsRate) {
  TokenBucket bucket({.per_second = 10, .burst = 3}, kStart);

  for (int i = 0; i < 3; ++i) EXPECT_TRUE(bucket.try_take(kStart));
  EXPECT_FALSE(bucket.try_take(kStart));

  EXPECT_FALSE(bucket.try_take(kStart + 100ms - 1us));
  EXPECT_TRUE(bucket.try_take(kStart + 100ms));
}

TEST(TokenBucket, NeverHoldsMoreThanItsBurst) {
  TokenBucket bucket({.per_second = 1'000'000, .burst = 2}, kStart);

  EXPECT_FALSE(bucket.try_take(kStart + 1'000'000h, 3));
  EXPECT_TRUE(bucket.try_take(kStart + 1'000'000h, 2));
  EXPECT_EQ(bucket.available_at(kStart, 3), kNever);
}

TEST(TokenBucket, SlowRatesAreExactToo) {
  TokenBucket bucket({.per_second = 0.5, .burst = 1}, kStart);
  ASSERT_TRUE(bucket.try_take(kStart));

  EXPECT_EQ(bucket.available_at(kStart), kStart + 2s);

  TokenBucket once_a_minute({.per_second = 1.0 / 60, .burst = 1}, kStart);
  ASSERT_TRUE(once_a_minute.try_take(kStart));
  EXPECT_NEAR(std::chrono::duration<double>(once_a_minute.available_at(kStart) - kStart).count(),
              60, 0.01);
}

TEST(TokenBucket, ManyTokensAtOnceDoNotOverflow) {
  TokenBucket bucket({.per_second = 1, .burst = 1'000'000}, kStart);

  EXPECT_FALSE(bucket.try_take(kStart, INT32_MAX));
  EXPECT_TRUE(bucket.try_take(kStart, 1'000'000));
  EXPECT_EQ(bucket.available_at(kStart, 1'000'000), kStart + 1'000'000s);
}

TEST(RateSettings, BadOnesAreRefusedByNameAndRange) {
  EXPECT_EQ(validate(RateSettings{.per_second = 0, .burst = 0}).error().message,
            "rate.per_second must be between 0.001 and 1000000, not 0; "
            "rate.burst must be between 1 and 1000000, not 0");
}

RC_GTEST_PROP(TokenBucket, TheMomentItNamesIsTheFirstThatWorks, ()) {
  const RateSettings settings{.per_second = *rc::gen::inRange(1, 100'000) / 10.0,
                              .burst = *rc::gen::inRange(1, 100)};
  TokenBucket bucket(settings, kStart);
  TimePoint now = kStart;

  for (const int tokens :
       *rc::gen::container<std::vector<int>>(rc::gen::inRange(1, settings.burst + 1))) {
    const TimePoint at = bucket.available_at(now, tokens);
    if (at > now) RC_ASSERT(!TokenBucket(bucket).try_take(at - 1us, tokens));
    RC_ASSERT(bucket.try_take(at, tokens));
    now = at;
  }
}

RC_GTEST_PROP(TokenBucket, NoStretchOfTimeSeesMoreThanRateAndBurst, ()) {
  const RateSettings settings{.per_second = *rc::gen::inRange(1, 1'000'000) / 999.0,
                              .burst = *rc::gen::inRange(1, 50)};
  TokenBucket bucket(settings, kStart);
  TimePoint now = kStart;
  std::vector<TimePoint> taken;

  for (const int wait : *rc::gen::container<std::vector<int>>(rc::gen::inRange(0, 20'000))) {
    now += wait * 1us;
    if (bucket.try_take(now)) taken.push_back(now);
  }

  for (std::size_t first = 0; first < taken.size(); ++first) {
    const double stretch = std::chrono::duration<double>(taken.back() - taken[first]).count();
    const auto count = static_cast<double>(taken.size() - first);
    RC_ASSERT(count <= settings.burst + settings.per_second * stretch + 1e-3);
  }
}

TEST(TokenBucket, TimeThatGoesBackwardsTakesNothingAway) {
  TokenBucket bucket({.per_second = 10, .burst = 1}, kStart);

  EXPECT_TRUE(bucket.try_take(kStart - 1h));
}

TEST(TokenBucket, IsFullAfterTheLongestSilence) {
  TokenBucket bucket({.per_second = 1'000, .burst = 2}, kStart);

  EXPECT_TRUE(bucket.try_take(kNever - 1h, 2));
}

TEST(TokenBucket, ARateIsRoundedToTheNearestMillionth) {
  TokenBucket bucket({.per_second = 0.001001, .burst = 1}, kStart);
  ASSERT_TRUE(bucket.try_take(kStart));

  EXPECT_EQ(bucket.available_at(kStart), kStart + 999'001'000us)
      << "0.001001 x 10^6 is 1000.999... in binary";
}

}  // namespace
}  // namespace recourse::policy

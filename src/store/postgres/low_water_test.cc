#include "store/postgres/low_water.h"

#include <gtest/gtest.h>

namespace recourse::store::postgres {
namespace {

using namespace std::chrono_literals;

const task::Kind kKind("mail");
const LowWater::Clock::time_point kStart{1h};
const TimePoint kOldest{100s};

TEST(LowWater, LooksFromTheBeginningWhileClaimsAreQuick) {
  LowWater low_water;
  low_water.took(1ms, kStart);
  low_water.found(kKind, 5, kOldest);

  EXPECT_EQ(low_water.start_of(kKind, 5, kStart), TimePoint::min());
}

TEST(LowWater, StartsAtTheLastOldestOnceAClaimWasSlow) {
  LowWater low_water;
  low_water.took(50ms, kStart);
  low_water.found(kKind, 5, kOldest);

  EXPECT_EQ(low_water.start_of(kKind, 5, kStart + 1s), kOldest - 100ms) << "some commit late";
  EXPECT_EQ(low_water.start_of(kKind, 6, kStart + 1s), TimePoint::min()) << "nothing found there";
}

TEST(LowWater, WhatIsPutBackBelowTheMarkIsSeen) {
  LowWater low_water;
  low_water.took(50ms, kStart);
  low_water.found(kKind, 5, kOldest);
  low_water.found(task::Kind("sms"), 5, kOldest);

  low_water.put_back(kKind, kOldest);
  EXPECT_EQ(low_water.start_of(kKind, 5, kStart), kOldest - 100ms) << "it is seen from there";

  low_water.put_back(kKind, kOldest - 1s);
  EXPECT_EQ(low_water.start_of(kKind, 5, kStart), TimePoint::min());
  EXPECT_EQ(low_water.start_of(task::Kind("sms"), 5, kStart), kOldest - 100ms);
}

TEST(LowWater, LooksFromTheBeginningAgainAfterTenSeconds) {
  LowWater low_water;
  low_water.took(50ms, kStart);
  low_water.found(kKind, 5, kOldest);

  EXPECT_EQ(low_water.start_of(kKind, 5, kStart + 10s), TimePoint::min());
}

TEST(LowWater, ALongSlowTimeDoesNotKeepTheMarkBeyondItsTenSeconds) {
  LowWater low_water;
  for (auto now = kStart; now < kStart + 9s; now += 1s) {
    low_water.took(50ms, now);
    low_water.found(kKind, 5, kOldest);
  }

  EXPECT_EQ(low_water.start_of(kKind, 5, kStart + 11s), TimePoint::min());
}

TEST(LowWater, LooksFromTheBeginningAgainAfterASecondWhereAClaimGotLessThanItAskedFor) {
  LowWater low_water;
  low_water.took(50ms, kStart);
  low_water.found(kKind, 5, kOldest);

  low_water.fell_short(kStart + 999ms);
  EXPECT_EQ(low_water.start_of(kKind, 5, kStart + 999ms), kOldest - 100ms);

  low_water.fell_short(kStart + 1s);
  EXPECT_EQ(low_water.start_of(kKind, 5, kStart + 1s), TimePoint::min());
}

TEST(LowWater, MindsNoShortClaimWhereNoMarkIsSet) {
  LowWater low_water;
  low_water.fell_short(kStart);

  low_water.took(50ms, kStart);
  low_water.found(kKind, 5, kOldest);
  EXPECT_EQ(low_water.start_of(kKind, 5, kStart), kOldest - 100ms);
}

}  // namespace
}  // namespace recourse::store::postgres

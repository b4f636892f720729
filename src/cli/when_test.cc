#include "cli/when.h"

#include <gtest/gtest.h>

namespace recourse::cli {
namespace {

using namespace std::chrono_literals;
using std::chrono::days;

constexpr TimePoint kEndOfJanuary =
    std::chrono::sys_days(std::chrono::year(2026) / 1 / 31) + 4h + 30min;

TEST(When, SaysHowFarAwayInOneUnit) {
  EXPECT_EQ(relative(kEndOfJanuary, kEndOfJanuary), "now");
  EXPECT_EQ(relative(kEndOfJanuary + 999ms, kEndOfJanuary), "now");
  EXPECT_EQ(relative(kEndOfJanuary + 12s, kEndOfJanuary), "in 12s");
  EXPECT_EQ(relative(kEndOfJanuary - 12s, kEndOfJanuary), "12s ago");
  EXPECT_EQ(relative(kEndOfJanuary - 3min - 59s, kEndOfJanuary), "3 min ago");
  EXPECT_EQ(relative(kEndOfJanuary + 2h, kEndOfJanuary), "in 2 h");
  EXPECT_EQ(relative(kEndOfJanuary - days(1), kEndOfJanuary), "1 day ago");
  EXPECT_EQ(relative(kEndOfJanuary + days(5), kEndOfJanuary), "in 5 days");
}

TEST(When, WhatIsFarAwayIsADate) {
  EXPECT_EQ(relative(kEndOfJanuary - days(31), kEndOfJanuary), "2025-12-31");
  EXPECT_EQ(relative(kEndOfJanuary + days(60), kEndOfJanuary), "2026-04-01");
}

TEST(When, TheEndsOfTimeAreNamed) {
  EXPECT_EQ(relative(kNever, kEndOfJanuary), "never");
  EXPECT_EQ(relative(kNever - 1us, kEndOfJanuary), "after 9999");
  EXPECT_EQ(relative(TimePoint::min(), kEndOfJanuary), "before 1970");
}

TEST(When, AMomentIsWrittenInUtc) {
  EXPECT_EQ(exact(kEndOfJanuary), "2026-01-31T04:30:00Z");
  EXPECT_EQ(exact(kEndOfJanuary + 5ms), "2026-01-31T04:30:00.005Z");
  EXPECT_EQ(exact(TimePoint{}), "1970-01-01T00:00:00Z");
}

TEST(When, ALengthHasTwoUnitsAtMost) {
  EXPECT_EQ(length_of(-1s), "0s");
  EXPECT_EQ(length_of(250us), "250us");
  EXPECT_EQ(length_of(340ms), "340ms");
  EXPECT_EQ(length_of(12s + 900ms), "12s");
  EXPECT_EQ(length_of(3min), "3 min");
  EXPECT_EQ(length_of(3min + 20s), "3 min 20s");
  EXPECT_EQ(length_of(2h + 5min + 7s), "2 h 5 min");
  EXPECT_EQ(length_of(days(5) + 3h), "5 days 3 h");
}

}  // namespace
}  // namespace recourse::cli

#include "guard/wall_clock.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "base/rfc3339.h"

namespace recourse::guard {
namespace {

using namespace std::chrono_literals;

TimePoint at(const char* text) { return parse_rfc3339("time", text).value(); }
WallClock clock_of(const char* zone) { return WallClock(TimeZone::load(zone).value()); }

TEST(WallClock, WritesWhatTheClockOfThatPlaceShows) {
  EXPECT_EQ(clock_of("Asia/Shanghai").written(at("2026-02-05T04:00:00Z")), "2026-02-05 12:00:00");
  EXPECT_EQ(clock_of("+08:00").written(at("2026-02-05T04:00:00.1Z")), "2026-02-05 12:00:01");
  EXPECT_EQ(clock_of("UTC").reached(at("2026-02-05T04:00:00.9Z")), "2026-02-05 04:00:00");
  EXPECT_EQ(clock_of("Asia/Shanghai").read("2026-02-05 12:00:00"), at("2026-02-05T04:00:00Z"));
  EXPECT_EQ(clock_of("UTC").read("2026-02-05T04:00:00.123"), at("2026-02-05T04:00:00Z"));
}

TEST(WallClock, WhatIsNoTimeIsNothing) {
  for (const char* text : {"", "0000-00-00 00:00:00", "2026-02-30 00:00:00", "2026-02-05",
                           "2026-02-05 24:00:00", "infinity", "20260205 12:00:00...."})
    EXPECT_EQ(clock_of("UTC").read(text), std::nullopt) << text;
}

// The clock of Berlin goes back at 01:00 UTC: 02:00 to 03:00 is shown twice.
TEST(WallClock, TheSecondPassOfAnHourIsWrittenAsTheSecondAfterIt) {
  const WallClock berlin = clock_of("Europe/Berlin");
  EXPECT_EQ(berlin.written(at("2026-10-25T00:59:59Z")), "2026-10-25 02:59:59");
  EXPECT_EQ(berlin.written(at("2026-10-25T01:00:00Z")), "2026-10-25 03:00:00");
  EXPECT_EQ(berlin.written(at("2026-10-25T01:59:59Z")), "2026-10-25 03:00:00");
  EXPECT_EQ(berlin.written(at("2026-10-25T02:00:00Z")), "2026-10-25 03:00:00");
  EXPECT_EQ(berlin.reached(at("2026-10-25T00:30:00Z")), "2026-10-25 02:30:00");
  EXPECT_EQ(berlin.reached(at("2026-10-25T01:00:00Z")), "2026-10-25 02:59:59");
  EXPECT_EQ(berlin.reached(at("2026-10-25T01:59:59Z")), "2026-10-25 02:59:59");
  EXPECT_EQ(berlin.reached(at("2026-10-25T02:00:00Z")), "2026-10-25 03:00:00");
}

// And forward at 01:00 UTC: 02:00 to 03:00 is never shown.
TEST(WallClock, AnHourThatNeverWasIsTheMomentItWasSkipped) {
  const WallClock berlin = clock_of("Europe/Berlin");
  EXPECT_EQ(berlin.written(at("2026-03-29T00:59:59Z")), "2026-03-29 01:59:59");
  EXPECT_EQ(berlin.written(at("2026-03-29T01:00:00Z")), "2026-03-29 03:00:00");
  EXPECT_EQ(berlin.read("2026-03-29 02:30:00"), at("2026-03-29T01:00:00Z"));
}

// What makes a claim safe: written down and compared, times keep their order, whatever the zone.
RC_GTEST_PROP(WallClock, NothingWrittenIsReachedEarlyAndAllOfItIsReached, ()) {
  const WallClock clock = clock_of(*rc::gen::element("UTC", "Europe/Berlin", "Asia/Shanghai",
                                                     "America/St_Johns", "Australia/Lord_Howe"));
  const TimePoint around = *rc::gen::element(
      at("2026-10-25T01:00:00Z"), at("2026-03-29T01:00:00Z"), at("2026-04-04T15:00:00Z"),
      at("2026-10-03T15:30:00Z"), at("2026-11-01T04:30:00Z"), at("2026-07-01T00:00:00Z"));
  const TimePoint meant = around + std::chrono::seconds(*rc::gen::inRange(-10'000, 10'000));
  const TimePoint now = around + std::chrono::seconds(*rc::gen::inRange(-10'000, 10'000));

  const std::string text = clock.written(meant);
  const TimePoint read = clock.read(text).value();

  RC_ASSERT(read >= meant);
  RC_ASSERT(read <= meant + 1h);
  RC_ASSERT(clock.written(read) == text);
  RC_ASSERT((text <= clock.reached(now)) == (read <= now));
}

}  // namespace
}  // namespace recourse::guard

#include "base/rfc3339.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace recourse {
namespace {

using namespace std::chrono_literals;

constexpr TimePoint kMoment = std::chrono::sys_days(std::chrono::year(2026) / 11 / 16) + 9h + 15min;

TEST(Rfc3339, IsReadWithItsOffset) {
  EXPECT_EQ(parse_rfc3339("at", "2026-11-16T09:15:00Z").value(), kMoment);
  EXPECT_EQ(parse_rfc3339("at", "2026-11-16T17:15:00+08:00").value(), kMoment);
  EXPECT_EQ(parse_rfc3339("at", "2026-11-16t03:45:00.250-05:30").value(), kMoment + 250ms);
  EXPECT_EQ(parse_rfc3339("at", "2026-11-16 09:15:00.1234567z").value(), kMoment + 123456us);
  EXPECT_EQ(parse_rfc3339("at", "2016-12-31T23:59:60Z").value(),
            parse_rfc3339("at", "2017-01-01T00:00:00Z").value());
}

TEST(Rfc3339, IsRefusedByFieldNameWhereItIsNotOne) {
  for (const char* text : {"", "2026", "2026-11-16", "2026-11-16T09:15:00", "2026-02-30T00:00:00Z",
                           "2026-11-16T24:00:00Z", "2026-11-16T09:60:00Z", "2026-11-16T09:15:00.Z",
                           "2026-11-16T09:15:00+8:00", "2026-11-16T09:15:00Zx",
                           "x026-11-16T09:15:00Z", "2026-11-16T09:15:00+24:00"}) {
    const Result<TimePoint> parsed = parse_rfc3339("deadline", text);
    ASSERT_FALSE(parsed) << text;
    EXPECT_TRUE(parsed.error().message.starts_with("deadline must be")) << parsed.error().message;
  }
}

TEST(Rfc3339, IsWrittenAsShortAsItCanBe) {
  EXPECT_EQ(format_rfc3339(kMoment), "2026-11-16T09:15:00Z");
  EXPECT_EQ(format_rfc3339(kMoment + 50ms), "2026-11-16T09:15:00.050Z");
  EXPECT_EQ(format_rfc3339(kMoment + 7us), "2026-11-16T09:15:00.000007Z");
  EXPECT_EQ(format_rfc3339(kNever), "9999-12-31T23:59:59.999999Z");
}

RC_GTEST_PROP(Rfc3339Property, WhatIsWrittenIsReadBack, ()) {
  const auto micros =
      *rc::gen::inRange<std::int64_t>(-62'135'596'800'000'000, 253'402'300'799'999'999);
  const TimePoint time{Duration(micros)};
  RC_ASSERT(parse_rfc3339("at", format_rfc3339(time)).value() == time);
}

}  // namespace
}  // namespace recourse

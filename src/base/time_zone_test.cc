#include "base/time_zone.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "base/rfc3339.h"
#include "base/zone_rule.h"

namespace recourse {
namespace {

using namespace std::chrono_literals;

TimePoint at(std::string_view text) { return parse_rfc3339("at", text).value(); }

TEST(TimeZone, UtcNeedsNoFile) {
  EXPECT_EQ(TimeZone::load("UTC").value().offset_at(at("2026-07-01T00:00:00Z")), 0s);
}

// Expected values from Python's zoneinfo.
TEST(TimeZone, KnowsSummerAndWinterOfTheSystemsZones) {
  const TimeZone berlin = TimeZone::load("Europe/Berlin").value();
  EXPECT_EQ(berlin.offset_at(at("2026-03-29T00:59:59Z")), 1h);
  EXPECT_EQ(berlin.offset_at(at("2026-03-29T01:00:00Z")), 2h);
  EXPECT_EQ(berlin.offset_at(at("2026-10-25T00:59:59.9Z")), 2h);
  EXPECT_EQ(berlin.offset_at(at("2026-10-25T01:00:00Z")), 1h);
  EXPECT_EQ(berlin.offset_at(at("2080-07-01T00:00:00Z")), 2h);
  const TimeZone shanghai = TimeZone::load("Asia/Shanghai").value();
  EXPECT_EQ(shanghai.offset_at(at("2026-07-01T00:00:00Z")), 8h);
  EXPECT_EQ(shanghai.offset_at(at("1988-07-01T00:00:00Z")), 9h);
  EXPECT_EQ(TimeZone::load("Asia/Kolkata").value().offset_at(at("2026-07-01T00:00:00Z")), 330min);
}

TEST(TimeZone, RefusesWhatIsNoneAndNeverLeavesItsFolder) {
  for (const char* name : {"", "Mars/Olympus", "/etc/passwd", "../../../etc/passwd", "Europe/",
                           "Europe", "zone.tab", "posixrules/../UTC"}) {
    const Result<TimeZone> zone = TimeZone::load(name);
    ASSERT_FALSE(zone) << name;
    EXPECT_NE(zone.error().message.find("there is no time zone"), std::string::npos);
  }
}

RC_GTEST_PROP(TimeZone, ReadsAnyBytesWithoutHarm, (const std::string& tail)) {
  RC_ASSERT(!TimeZone::parse(tail));
  (void)TimeZone::parse("TZif2" + std::string(39, '\0') + tail);
}

TEST(ZoneRule, ChangesByWeekByDayAndInTheSouth) {
  const auto second = [](std::string_view text) {
    return std::chrono::floor<std::chrono::seconds>(at(text));
  };
  const ZoneRule sydney = ZoneRule::parse("AEST-10AEDT,M10.1.0,M4.1.0/3").value();
  EXPECT_EQ(sydney.offset_at(second("2026-01-15T00:00:00Z")), 11h);
  EXPECT_EQ(sydney.offset_at(second("2026-04-04T15:59:59Z")), 11h);
  EXPECT_EQ(sydney.offset_at(second("2026-04-04T16:00:00Z")), 10h);
  EXPECT_EQ(ZoneRule::parse("<-03>3").value().offset_at(second("2026-01-15T00:00:00Z")), -3h);
  const ZoneRule julian = ZoneRule::parse("AAA0BBB,J60,J300").value();
  EXPECT_EQ(julian.offset_at(second("2024-02-29T23:00:00Z")), 0h);  // J60 is the 1st of March
  EXPECT_EQ(julian.offset_at(second("2024-03-01T02:00:00Z")), 1h);
  for (const char* text : {"", "CET", "CET-1CEST", "CET-1CEST,M3.5.0", "CET-1CEST,M13.5.0,M10.5.0",
                           "<+03-3", "CET-1CEST,M3.5.0,M10.5.0/3x"}) {
    EXPECT_FALSE(ZoneRule::parse(text)) << text;
  }
}

TEST(TimeZone, AnOffsetIsAZoneOfItsOwn) {
  EXPECT_EQ(TimeZone::load("+08:00").value().offset_at(TimePoint()), std::chrono::hours(8));
  EXPECT_EQ(TimeZone::load("-03:30").value().offset_at(TimePoint()), -std::chrono::minutes(210));
  for (const char* wrong : {"+8:00", "08:00", "+08:60", "+15:00", "+0a:00"})
    EXPECT_FALSE(TimeZone::load(wrong)) << wrong;
}

}  // namespace
}  // namespace recourse

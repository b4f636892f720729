#include "base/duration_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace recourse {
namespace {

using namespace std::chrono_literals;
using testing::AllOf;
using testing::HasSubstr;

TEST(DurationText, ReadsWhatConfigurationFilesSay) {
  EXPECT_EQ(parse_duration("tick", "100ms").value(), 100ms);
  EXPECT_EQ(parse_duration("tick", "30s").value(), 30s);
  EXPECT_EQ(parse_duration("tick", "1h30m").value(), 90min);
  EXPECT_EQ(parse_duration("tick", "7d").value(), 168h);
  EXPECT_EQ(parse_duration("tick", "1m1us").value(), 1min + 1us);
  EXPECT_EQ(parse_duration("tick", "0").value(), 0s);
}

TEST(DurationText, RefusesByNameAndSaysWhatIsWrong) {
  const auto complaint = [](std::string_view text) {
    const Result<Duration> parsed = parse_duration("lease-ttl", text);
    EXPECT_FALSE(parsed) << text;
    return parsed ? std::string() : parsed.error().message;
  };

  EXPECT_THAT(complaint("-5s"), AllOf(HasSubstr("lease-ttl"), HasSubstr("negative")));
  EXPECT_THAT(complaint(""), HasSubstr("empty"));
  EXPECT_THAT(complaint("30"), HasSubstr("without a unit"));
  EXPECT_THAT(complaint("30 s"), HasSubstr("without a unit"));
  EXPECT_THAT(complaint("s"), HasSubstr("no number"));
  EXPECT_THAT(complaint("1.5s"), HasSubstr("without a unit"));
  EXPECT_THAT(complaint("1s1h"), HasSubstr("out of order"));
  EXPECT_THAT(complaint("1s1s"), HasSubstr("out of order"));
  EXPECT_THAT(complaint("1s-1ms"), HasSubstr("no number"));
  EXPECT_THAT(complaint("99999999999d"), HasSubstr("too long"));
  EXPECT_THAT(complaint("99999999999999999999s"), HasSubstr("too long"));
}

TEST(DurationText, WritesWholeUnitsLargestFirst) {
  EXPECT_EQ(format_duration(0s), "0s");
  EXPECT_EQ(format_duration(90s), "1m30s");
  EXPECT_EQ(format_duration(1500ms), "1s500ms");
  EXPECT_EQ(format_duration(48h), "2d");
  EXPECT_EQ(format_duration(-5s), "-5s");
  EXPECT_EQ(format_duration(Duration::min()), "-106751991d4h54s775ms808us");
}

RC_GTEST_PROP(DurationText, WhatIsWrittenReadsBackTheSame, ()) {
  const Duration duration(*rc::gen::arbitrary<std::int64_t>() & Duration::max().count());

  RC_ASSERT(parse_duration("any", format_duration(duration)).value() == duration);
}

RC_GTEST_PROP(DurationText, NoSpellingCrashesTheParser, ()) {
  const auto text =
      *rc::gen::container<std::string>(rc::gen::elementOf(std::string("0159dhmsu-. ")));

  const Result<Duration> parsed = parse_duration("any", text);

  if (parsed) RC_ASSERT(*parsed >= Duration::zero());
  if (!parsed) RC_ASSERT(parsed.error().code == ErrorCode::kInvalid);
}

TEST(DurationText, ASumPastTheLongestDurationIsTooLong) {
  EXPECT_EQ(parse_duration("any", "106751991d4h54s775ms807us").value(), Duration::max());
  EXPECT_THAT(parse_duration("any", "106751991d4h54s775ms808us").error().message,
              HasSubstr("too long"));
}

}  // namespace
}  // namespace recourse

#include "timing/cron.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace recourse::timing {
namespace {

using namespace std::chrono_literals;
using std::chrono::days;
using std::chrono::sys_days;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr sys_days day(int year, unsigned month, unsigned day_of_month) {
  return sys_days{std::chrono::year{year} / std::chrono::month{month} /
                  std::chrono::day{day_of_month}};
}

std::vector<TimePoint> occurrences(std::string_view text, TimePoint after, int count) {
  const Cron cron = Cron::parse(text).value();
  std::vector<TimePoint> found;
  for (int i = 0; i < count; ++i) found.push_back(after = cron.next_after(after));
  return found;
}

TimePoint next(std::string_view text, TimePoint after) {
  return Cron::parse(text).value().next_after(after);
}

std::string refusal(std::string_view text) {
  const Result<Cron> cron = Cron::parse(text);
  EXPECT_FALSE(cron) << text;
  return cron ? "" : cron.error().message;
}

// 2026-01-01 is a thursday.
const TimePoint kNewYear = day(2026, 1, 1);

TEST(Cron, ComesAtItsMinuteAndNotBefore) {
  EXPECT_EQ(next("30 4 * * *", kNewYear), kNewYear + 4h + 30min);
  EXPECT_EQ(next("30 4 * * *", kNewYear + 4h + 30min - 1us), kNewYear + 4h + 30min);
  EXPECT_EQ(next("30 4 * * *", kNewYear + 4h + 30min), kNewYear + 28h + 30min);
}

TEST(Cron, StepsListsAndRanges) {
  EXPECT_THAT(occurrences("*/20 8-9,23 * * *", kNewYear, 8),
              ElementsAre(kNewYear + 8h, kNewYear + 8h + 20min, kNewYear + 8h + 40min,
                          kNewYear + 9h, kNewYear + 9h + 20min, kNewYear + 9h + 40min,
                          kNewYear + 23h, kNewYear + 23h + 20min));
  EXPECT_THAT(occurrences("10-40/15 0 * * *", kNewYear, 3),
              ElementsAre(kNewYear + 10min, kNewYear + 25min, kNewYear + 40min));
}

TEST(Cron, NamesAreReadInAnyCase) {
  EXPECT_THAT(occurrences("0 0 * Feb Mon-WED", kNewYear, 4),
              ElementsAre(day(2026, 2, 2), day(2026, 2, 3), day(2026, 2, 4), day(2026, 2, 9)));
}

TEST(Cron, SundayIsZeroAndSeven) {
  const TimePoint sunday = day(2026, 1, 4);
  for (const char* text : {"0 0 * * 0", "0 0 * * 7", "0 0 * * sun", "0 0 * * 7,0"}) {
    EXPECT_THAT(occurrences(text, kNewYear, 2), ElementsAre(sunday, sunday + days{7})) << text;
  }
  for (const char* text : {"0 0 * * 6-7", "0 0 * * sat-sun", "0 0 * * 0,sat"}) {
    EXPECT_THAT(occurrences(text, kNewYear, 2), ElementsAre(sunday - days{1}, sunday)) << text;
  }
}

TEST(Cron, OneOfTwoRestrictedDayFieldsIsEnough) {
  EXPECT_THAT(occurrences("0 0 13 * fri", kNewYear, 4),
              ElementsAre(day(2026, 1, 2), day(2026, 1, 9), day(2026, 1, 13), day(2026, 1, 16)));
}

// As in Vixie's: a field that begins with a star does not restrict by itself.
TEST(Cron, WithAStarBothDayFieldsHaveToAllowTheDay) {
  EXPECT_THAT(occurrences("0 0 */10 * sun", kNewYear, 3),
              ElementsAre(day(2026, 1, 11), day(2026, 2, 1), day(2026, 3, 1)));
}

TEST(Cron, KnowsLeapYears) {
  EXPECT_THAT(occurrences("0 0 29 2 *", kNewYear, 2),
              ElementsAre(day(2028, 2, 29), day(2032, 2, 29)));
  EXPECT_EQ(next("0 0 29 2 *", day(2096, 3, 1)), TimePoint(day(2104, 2, 29)));
  // On a sunday: the longest wait there is.
  EXPECT_EQ(next("0 0 29 2 */7", day(2088, 3, 1)), TimePoint(day(2128, 2, 29)));
}

TEST(Cron, WhatIsInNoCalendarNeverComes) {
  EXPECT_EQ(next("0 0 30 2 *", kNewYear), kNever);
  EXPECT_EQ(next("0 0 31 4,6,9,11 *", kNewYear), kNever);
}

TEST(Cron, HoldsFrom1970To9999) {
  EXPECT_EQ(next("* * * * *", TimePoint::min()), TimePoint{});
  EXPECT_EQ(next("* * * * *", TimePoint{} - 1us), TimePoint{});
  EXPECT_EQ(next("* * * * *", day(9999, 12, 31) + 23h + 59min - 1us),
            TimePoint(day(9999, 12, 31) + 23h + 59min));
  EXPECT_EQ(next("* * * * *", day(9999, 12, 31) + 23h + 59min), kNever);
  EXPECT_EQ(next("* * * * *", kNever), kNever);
}

TEST(Cron, ABlankMoreIsNoError) {
  EXPECT_EQ(next("  30\t4  *  * * ", kNewYear), kNewYear + 4h + 30min);
}

TEST(Cron, ARefusalNamesTheFieldTheValueAndWhatIsAllowed) {
  EXPECT_THAT(refusal("60 * * * *"),
              AllOf(HasSubstr("minute"), HasSubstr("60"), HasSubstr("0 to 59")));
  EXPECT_THAT(refusal("* 24 * * *"), AllOf(HasSubstr("hour"), HasSubstr("0 to 23")));
  EXPECT_THAT(refusal("* * 0 * *"), AllOf(HasSubstr("day-of-month"), HasSubstr("1 to 31")));
  EXPECT_THAT(refusal("* * * juno *"),
              AllOf(HasSubstr("month"), HasSubstr("juno"), HasSubstr("1 to 12 or jan to dec")));
  EXPECT_THAT(refusal("* * * * 8"), AllOf(HasSubstr("day-of-week"), HasSubstr("sun to sat")));
}

TEST(Cron, ARefusalSaysHowToCorrectIt) {
  EXPECT_THAT(refusal("5/15 * * * *"), HasSubstr("write 5-59/15"));
  EXPECT_THAT(refusal("* 22-2 * * *"), HasSubstr("write 22-23,0-2"));
  EXPECT_THAT(refusal("*/90 * * * *"), HasSubstr("between 1 and 59"));
  EXPECT_THAT(refusal("*/0 * * * *"), HasSubstr("between 1 and 59"));
  EXPECT_THAT(refusal("1,,2 * * * *"), HasSubstr("a value is missing"));
  EXPECT_THAT(refusal("0 30 4 * * *"), AllOf(HasSubstr("6 fields"), HasSubstr("minute hour")));
  EXPECT_THAT(refusal(""), HasSubstr("0 fields"));
}

TEST(Cron, RubbishIsRefused) {
  for (const char* text :
       {"-1 * * * *", "1- * * * *", "-5 * * * *", "+1 * * * *", "1.5 * * * *", "*/ * * * *",
        "*/-2 * * * *", "1-2-3 * * * *", "** * * * *", "99999999999999999999 * * * *",
        "1/2/3 * * * *", "L * * * *", "? * * * *", "1;2 * * * *"}) {
    EXPECT_FALSE(Cron::parse(text)) << text;
  }
}

}  // namespace
}  // namespace recourse::timing

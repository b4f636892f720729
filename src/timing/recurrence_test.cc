#include "timing/recurrence.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace recourse::timing {
namespace {

using namespace std::chrono_literals;
using ::testing::AllOf;
using ::testing::HasSubstr;

// A thursday.
constexpr TimePoint kNewYear{std::chrono::sys_days{std::chrono::year{2026} / 1 / 1}};

TimePoint next(std::string_view text, TimePoint after) {
  return Recurrence::parse(text).value().next_after(after);
}

std::string refusal(std::string_view text) {
  const Result<Recurrence> when = Recurrence::parse(text);
  EXPECT_FALSE(when) << text;
  return when ? "" : when.error().message;
}

TEST(Recurrence, AnIntervalCountsFrom1970) {
  EXPECT_EQ(next("every 30s", kNewYear), kNewYear + 30s);
  EXPECT_EQ(next("every 30s", kNewYear + 29s), kNewYear + 30s);
  EXPECT_EQ(next("every 5m", kNewYear + 7min), kNewYear + 10min);
  EXPECT_EQ(next("every 2h", kNewYear + 2h), kNewYear + 4h);
  EXPECT_EQ(next("every 1h30m", kNewYear), kNewYear + 1h + 30min);
  EXPECT_EQ(next("every 1d", kNewYear - 1us), kNewYear);
  // 1970-01-01 was a thursday too.
  EXPECT_EQ(next("every 7d", kNewYear), kNewYear + std::chrono::days{7});
}

TEST(Recurrence, NicknamesAreThoseOfCron) {
  EXPECT_EQ(next("@hourly", kNewYear), kNewYear + 1h);
  EXPECT_EQ(next("@daily", kNewYear), kNewYear + 24h);
  EXPECT_EQ(next("@midnight", kNewYear), kNewYear + 24h);
  EXPECT_EQ(next("@weekly", kNewYear), kNewYear + 72h);
  EXPECT_EQ(next("@monthly", kNewYear), kNewYear + std::chrono::days{31});
  EXPECT_EQ(next("@yearly", kNewYear), kNewYear + std::chrono::days{365});
  EXPECT_EQ(next("@annually", kNewYear), kNewYear + std::chrono::days{365});
}

TEST(Recurrence, WhatIsLeftIsAnExpression) {
  EXPECT_EQ(next("0 9 * * mon", kNewYear), kNewYear + std::chrono::days{4} + 9h);
}

TEST(Recurrence, ARefusalSaysWhatWouldDo) {
  EXPECT_THAT(refusal("every 500ms"), AllOf(HasSubstr("whole seconds"), HasSubstr("500ms")));
  EXPECT_THAT(refusal("every 1500ms"), HasSubstr("whole seconds"));
  EXPECT_THAT(refusal("every 0s"), HasSubstr("between 1s and 365d"));
  EXPECT_THAT(refusal("every 366d"), HasSubstr("between 1s and 365d"));
  EXPECT_THAT(refusal("every minute"), HasSubstr("30s, 5m"));
  EXPECT_THAT(refusal("@reboot"), AllOf(HasSubstr("@reboot"), HasSubstr("@hourly, @daily")));
  EXPECT_THAT(refusal("daily"), HasSubstr("minute hour day-of-month month day-of-week"));
  EXPECT_THAT(refusal("5s"), HasSubstr("write \"every 5s\""));
}

TEST(Recurrence, TheLastOfManyIsFoundWithoutAskingForEach) {
  const Recurrence minutely = Recurrence::parse("* * * * *").value();
  const Recurrence rare = Recurrence::parse("0 0 29 2 *").value();

  EXPECT_EQ(minutely.last_within(TimePoint{}, kNewYear + 90s), kNewYear + 1min);
  EXPECT_EQ(minutely.last_within(kNewYear, kNewYear + 59s), std::nullopt);
  EXPECT_EQ(minutely.last_within(kNewYear - 1us, kNewYear), kNewYear);
  EXPECT_EQ(rare.last_within(TimePoint{}, kNewYear),
            TimePoint(std::chrono::sys_days{std::chrono::year{2024} / 2 / 29}));
  EXPECT_EQ(rare.last_within(kNewYear - 24h, kNewYear), std::nullopt);
}

TEST(Recurrence, NothingComesAfterTheYear9999) {
  const Recurrence daily = Recurrence::parse("every 1d").value();
  const TimePoint last{std::chrono::sys_days{std::chrono::year{9999} / 12 / 31}};

  EXPECT_EQ(daily.next_after(last - 1us), last);
  EXPECT_EQ(daily.next_after(last), kNever);
  EXPECT_EQ(daily.last_within(last - 1us, kNever), last);
  EXPECT_EQ(daily.last_within(last, kNever), std::nullopt);
}

}  // namespace
}  // namespace recourse::timing

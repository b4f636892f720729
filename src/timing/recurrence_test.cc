#include "timing/recurrence.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace recourse::timing {
namespace {

using namespace std::chrono_literals;
using ::testing::AllOf;
using ::testing::HasSubstr;

// The first of 2026.
constexpr TimePoint kThursday{std::chrono::sys_days{std::chrono::year{2026} / 1 / 1}};

TimePoint next_of(std::string_view text, TimePoint after) {
  return Recurrence::parse(text).value().next_after(after);
}

std::string refusal_of(std::string_view text) {
  const Result<Recurrence> when = Recurrence::parse(text);
  EXPECT_FALSE(when) << text;
  return when ? "" : when.error().message;
}

TEST(Recurrence, AnIntervalCountsFrom1970) {
  EXPECT_EQ(next_of("every 30s", kThursday), kThursday + 30s);
  EXPECT_EQ(next_of("every 30s", kThursday + 29s), kThursday + 30s);
  EXPECT_EQ(next_of("every 5m", kThursday + 7min), kThursday + 10min);
  EXPECT_EQ(next_of("every 2h", kThursday + 2h), kThursday + 4h);
  EXPECT_EQ(next_of("every 1h30m", kThursday), kThursday + 1h + 30min);
  EXPECT_EQ(next_of("every 1d", kThursday - 1us), kThursday);
  // 1970-01-01 was a thursday too.
  EXPECT_EQ(next_of("every 7d", kThursday), kThursday + std::chrono::days{7});
}

TEST(Recurrence, NicknamesAreThoseOfCron) {
  EXPECT_EQ(next_of("@hourly", kThursday), kThursday + 1h);
  EXPECT_EQ(next_of("@daily", kThursday), kThursday + 24h);
  EXPECT_EQ(next_of("@midnight", kThursday), kThursday + 24h);
  EXPECT_EQ(next_of("@weekly", kThursday), kThursday + 72h);
  EXPECT_EQ(next_of("@monthly", kThursday), kThursday + std::chrono::days{31});
  EXPECT_EQ(next_of("@yearly", kThursday), kThursday + std::chrono::days{365});
  EXPECT_EQ(next_of("@annually", kThursday), kThursday + std::chrono::days{365});
}

TEST(Recurrence, WhatIsLeftIsAnExpression) {
  EXPECT_EQ(next_of("0 9 * * mon", kThursday), kThursday + std::chrono::days{4} + 9h);
}

TEST(Recurrence, ARefusalSaysWhatWouldDo) {
  EXPECT_THAT(refusal_of("every 500ms"), AllOf(HasSubstr("whole seconds"), HasSubstr("500ms")));
  EXPECT_THAT(refusal_of("every 1500ms"), HasSubstr("whole seconds"));
  EXPECT_THAT(refusal_of("every 0s"), HasSubstr("between 1s and 365d"));
  EXPECT_THAT(refusal_of("every 366d"), HasSubstr("between 1s and 365d"));
  EXPECT_THAT(refusal_of("every minute"), HasSubstr("30s, 5m"));
  EXPECT_THAT(refusal_of("@reboot"), AllOf(HasSubstr("@reboot"), HasSubstr("@hourly, @daily")));
  EXPECT_THAT(refusal_of("daily"), HasSubstr("minute hour day-of-month month day-of-week"));
  EXPECT_THAT(refusal_of("5s"), HasSubstr("write \"every 5s\""));
}

TEST(Recurrence, TheLastOfManyIsFoundWithoutAskingForEach) {
  const Recurrence minutely = Recurrence::parse("* * * * *").value();
  const Recurrence rare = Recurrence::parse("0 0 29 2 *").value();

  EXPECT_EQ(minutely.last_within(TimePoint{}, kThursday + 90s), kThursday + 1min);
  EXPECT_EQ(minutely.last_within(kThursday, kThursday + 59s), std::nullopt);
  EXPECT_EQ(minutely.last_within(kThursday - 1us, kThursday), kThursday);
  EXPECT_EQ(rare.last_within(TimePoint{}, kThursday),
            TimePoint(std::chrono::sys_days{std::chrono::year{2024} / 2 / 29}));
  EXPECT_EQ(rare.last_within(kThursday - 24h, kThursday), std::nullopt);
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

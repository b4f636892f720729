#include "engine/core/schedules.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace recourse::engine {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr TimePoint kMidnight{std::chrono::sys_days{std::chrono::year{2026} / 1 / 1}};
constexpr Duration kPatience = 30s;

Schedule schedule_of(const std::string& when, Duration catch_up = 0s,
                     const std::string& name = "report") {
  Schedule schedule{.name = name,
                    .when = timing::Recurrence::parse(when).value(),
                    .spec = {},
                    .deadline_in = std::nullopt,
                    .catch_up = catch_up};
  schedule.spec.kind = task::Kind("report");
  return schedule;
}

Schedules one(const std::string& when, Duration catch_up = 0s) {
  return Schedules({schedule_of(when, catch_up)}, kPatience);
}

// The occurrences, told by the ids' times.
std::vector<TimePoint> times(const Schedules::Due& due) {
  std::vector<TimePoint> found;
  for (const store::Submission& submission : due.submissions) {
    found.push_back(created_at(submission.id.value));
  }
  return found;
}

std::vector<TimePoint> due_at(Schedules& schedules, TimePoint now) {
  return times(schedules.take_due(now));
}

const Error kStoreDown{ErrorCode::kUnavailable, "no answer"};

TEST(Schedules, SubmitEachOccurrenceOnceAndNotBeforeItsTime) {
  Schedules schedules = one("every 10m");
  EXPECT_THAT(due_at(schedules, kMidnight + 1s), IsEmpty());
  EXPECT_EQ(schedules.next_wakeup(), kMidnight + 10min);

  EXPECT_THAT(due_at(schedules, kMidnight + 10min - 1us), IsEmpty());
  EXPECT_THAT(due_at(schedules, kMidnight + 10min), ElementsAre(kMidnight + 10min));
  EXPECT_THAT(due_at(schedules, kMidnight + 10min), IsEmpty());
  EXPECT_EQ(schedules.next_wakeup(), kMidnight + 20min);
  EXPECT_THAT(due_at(schedules, kMidnight + 20min + 5ms), ElementsAre(kMidnight + 20min));
}

TEST(Schedules, EachHasItsOwnTime) {
  Schedules schedules({schedule_of("@hourly", 0s, "a"), schedule_of("every 30m", 0s, "b")},
                      kPatience);
  EXPECT_THAT(due_at(schedules, kMidnight), IsEmpty());

  EXPECT_THAT(due_at(schedules, kMidnight + 30min), ElementsAre(kMidnight + 30min));
  const Schedules::Due both = schedules.take_due(kMidnight + 1h);

  ASSERT_EQ(both.submissions.size(), 2U);
  EXPECT_NE(both.submissions[0].id, both.submissions[1].id);
}

TEST(Schedules, WithoutAnyThereIsNothingToWakeUpFor) {
  Schedules schedules({}, kPatience);

  EXPECT_THAT(due_at(schedules, kMidnight), IsEmpty());
  EXPECT_EQ(schedules.next_wakeup(), kNever);
}

TEST(Schedules, WhatCameBeforeTheStartIsNotRun) {
  Schedules schedules = one("@hourly");

  const Schedules::Due due = schedules.take_due(kMidnight + 1s);

  EXPECT_THAT(due.submissions, IsEmpty());
  EXPECT_THAT(due.missed, IsEmpty());
}

TEST(Schedules, ALateStartCatchesUpWithTheLatestOnly) {
  Schedules schedules = one("every 10m", 1h);

  EXPECT_THAT(due_at(schedules, kMidnight + 55min), ElementsAre(kMidnight + 50min));
  EXPECT_EQ(schedules.next_wakeup(), kMidnight + 1h);
}

TEST(Schedules, WhatIsOlderThanCatchUpIsNotCaughtUp) {
  Schedules daily = one("@daily", 1h);
  EXPECT_THAT(due_at(daily, kMidnight + 1h), IsEmpty());

  Schedules in_time = one("@daily", 1h);
  EXPECT_THAT(due_at(in_time, kMidnight + 1h - 1us), ElementsAre(kMidnight));
}

// The engine's thread is never quite on time.
TEST(Schedules, ALittleLateIsStillRun) {
  Schedules schedules = one("@hourly");
  (void)schedules.take_due(kMidnight + 1s);

  EXPECT_THAT(due_at(schedules, kMidnight + 1h + kPatience - 1us), ElementsAre(kMidnight + 1h));
}

TEST(Schedules, AfterAStandstillThereIsNoBurst) {
  Schedules schedules = one("every 10m", 24h);
  (void)schedules.take_due(kMidnight + 1s);

  EXPECT_THAT(due_at(schedules, kMidnight + 8h + 1min), ElementsAre(kMidnight + 8h));
  EXPECT_EQ(schedules.next_wakeup(), kMidnight + 8h + 10min);
}

TEST(Schedules, WhatAStandstillMissedIsTold) {
  Schedules schedules = one("@hourly");
  (void)schedules.take_due(kMidnight + 1s);

  const Schedules::Due due = schedules.take_due(kMidnight + 8h + 10min);

  EXPECT_THAT(due.submissions, IsEmpty());
  EXPECT_THAT(due.missed, ElementsAre(HasSubstr("report of 2026-01-01T01:00:00Z")));
  EXPECT_EQ(schedules.next_wakeup(), kMidnight + 9h);
}

TEST(Schedules, WhatTheStoreDoesNotTakeIsSubmittedAgainUnderTheSameId) {
  Schedules schedules = one("@hourly");
  (void)schedules.take_due(kMidnight + 1s);
  const TimePoint due = kMidnight + 1h;
  const task::TaskId id = schedules.take_due(due).submissions.at(0).id;

  EXPECT_EQ(schedules.refused(id, kStoreDown, due + 5s), std::nullopt);

  EXPECT_EQ(schedules.next_wakeup(), due + 6s);
  EXPECT_THAT(due_at(schedules, due + 5s), IsEmpty());
  EXPECT_EQ(schedules.take_due(due + 6s).submissions.at(0).id, id);
  EXPECT_EQ(schedules.next_wakeup(), due + 1h);
}

// Somebody has tried all the time: that is not a time in which no node lived.
TEST(Schedules, AnOutageIsSatOut) {
  Schedules schedules = one("@daily");
  (void)schedules.take_due(kMidnight - 1s);
  const task::TaskId id = schedules.take_due(kMidnight).submissions.at(0).id;

  for (TimePoint now = kMidnight; now < kMidnight + 2h; now += 1s) {
    ASSERT_EQ(schedules.refused(id, kStoreDown, now), std::nullopt);
    ASSERT_EQ(schedules.take_due(now + 1s).submissions.at(0).id, id);
  }
}

TEST(Schedules, TheNextOccurrenceTakesThePlaceOfOneThatWaits) {
  Schedules schedules = one("every 10m");
  (void)schedules.take_due(kMidnight + 1s);
  const task::TaskId first = schedules.take_due(kMidnight + 10min).submissions.at(0).id;
  (void)schedules.refused(first, kStoreDown, kMidnight + 20min - 500ms);

  EXPECT_THAT(due_at(schedules, kMidnight + 20min), ElementsAre(kMidnight + 20min));
  EXPECT_THAT(due_at(schedules, kMidnight + 20min + 10s), IsEmpty());

  EXPECT_EQ(schedules.refused(first, kStoreDown, kMidnight + 20min + 10s), std::nullopt);
  EXPECT_EQ(schedules.next_wakeup(), kMidnight + 30min);
}

TEST(Schedules, WhatCannotBeStoredIsToldAndNotTriedAgain) {
  Schedules schedules = one("@hourly");
  (void)schedules.take_due(kMidnight + 1s);
  const task::TaskId id = schedules.take_due(kMidnight + 1h).submissions.at(0).id;

  const auto told = schedules.refused(id, {ErrorCode::kInvalid, "no such tenant"}, kMidnight + 1h);

  ASSERT_TRUE(told);
  EXPECT_THAT(*told, HasSubstr("report of 2026-01-01T01:00:00Z: no such tenant"));
  EXPECT_EQ(schedules.next_wakeup(), kMidnight + 2h);
}

TEST(Schedules, AClockThatWasSetBackIsFollowed) {
  Schedules schedules = one("@hourly");
  (void)schedules.take_due(kMidnight + 1s);
  (void)schedules.take_due(kMidnight + 24h * 400);

  EXPECT_THAT(due_at(schedules, kMidnight + 30min), IsEmpty());

  EXPECT_EQ(schedules.next_wakeup(), kMidnight + 1h);
  EXPECT_THAT(due_at(schedules, kMidnight + 1h), ElementsAre(kMidnight + 1h));
}

TEST(Schedules, ABoundThatStepsBackALittleChangesNothing) {
  Schedules schedules = one("@hourly");
  (void)schedules.take_due(kMidnight + 1s);
  EXPECT_THAT(due_at(schedules, kMidnight + 1h), ElementsAre(kMidnight + 1h));

  EXPECT_THAT(due_at(schedules, kMidnight + 1h - 1s), IsEmpty());
  EXPECT_THAT(due_at(schedules, kMidnight + 1h), IsEmpty());
}

}  // namespace
}  // namespace recourse::engine

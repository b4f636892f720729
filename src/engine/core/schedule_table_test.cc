#include "engine/core/schedule_table.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <string>

namespace recourse::engine {
namespace {

using namespace std::chrono_literals;
using ::testing::AllOf;
using ::testing::HasSubstr;

constexpr TimePoint kNewYear{std::chrono::sys_days{std::chrono::year{2026} / 1 / 1}};

Schedule hourly(const std::string& name) {
  Schedule schedule{.name = name,
                    .when = timing::Recurrence::parse("@hourly").value(),
                    .spec = {},
                    .deadline_in = std::nullopt};
  schedule.spec.kind = task::Kind("report");
  return schedule;
}

std::string refusal(const Schedule& schedule) {
  ScheduleTable table;
  const Result<> added = table.add(schedule);
  EXPECT_FALSE(added);
  return added ? "" : added.error().message;
}

// For ever: a node of another version has to make the same one.
TEST(OccurrenceId, FollowsFromNameAndTimeAlone) {
  EXPECT_EQ(task::to_string(occurrence_id("report", kNewYear)), "tsk_01KDVDNA00GVHBG4VD6BNSRMKB");
  EXPECT_EQ(task::to_string(occurrence_id("report", kNewYear + 1h)),
            "tsk_01KDVH35M0GVHEPHBSH0RYAYNB");
  EXPECT_EQ(task::to_string(occurrence_id("reports", kNewYear)), "tsk_01KDVDNA0057DY2Q2QR9ZZA2KD");
}

TEST(OccurrenceId, CarriesTheTimeAsEveryIdDoes) {
  EXPECT_EQ(created_at(occurrence_id("report", kNewYear + 90s).value), kNewYear + 90s);
}

TEST(OccurrenceId, DiffersForManyNamesAtOneTime) {
  std::set<task::TaskId> ids;
  for (int i = 0; i < 100'000; ++i) ids.insert(occurrence_id(fmt::format("{}", i), kNewYear));

  EXPECT_EQ(ids.size(), 100'000U);
}

TEST(Schedule, ItsTaskSaysWhichOccurrenceItIsOf) {
  Schedule schedule = hourly("report");
  schedule.spec.payload = "{}";
  schedule.delay = 5s;
  schedule.deadline_in = 10min;

  const store::Submission made = submission_of(schedule, kNewYear + 4h, kNewYear + 4h + 1s);

  EXPECT_EQ(made.id, occurrence_id("report", kNewYear + 4h));
  EXPECT_EQ(made.spec.headers.at("Recourse-Schedule"), "report");
  EXPECT_EQ(made.spec.headers.at("Recourse-Occurrence"), "2026-01-01T04:00:00Z");
  EXPECT_EQ(made.spec.deadline, kNewYear + 4h + 1s + 10min);
  EXPECT_EQ(made.delay, 5s);
  EXPECT_EQ(made.spec.payload, "{}");
}

TEST(ScheduleTable, RefusesBadOnesByNameAndRange) {
  EXPECT_THAT(refusal(hourly("")), HasSubstr("name"));
  EXPECT_THAT(refusal(hourly(std::string(101, 'x'))), HasSubstr("between 1 and 100"));
  EXPECT_THAT(refusal(hourly("a\nb")), HasSubstr("control characters"));

  Schedule schedule = hourly("report");
  schedule.catch_up = 8 * 24h;
  EXPECT_THAT(refusal(schedule), AllOf(HasSubstr("\"report\""), HasSubstr("catch_up"),
                                       HasSubstr("between 0s and 7d")));
  schedule = hourly("report");
  schedule.when = timing::Recurrence::parse("0 0 30 2 *").value();
  EXPECT_THAT(refusal(schedule), HasSubstr("no year has such a day"));
  schedule = hourly("report");
  schedule.spec.kind = task::Kind("report.*");
  EXPECT_THAT(refusal(schedule), HasSubstr("must be one kind"));
  schedule = hourly("report");
  schedule.spec.priority = 11;
  EXPECT_THAT(refusal(schedule), HasSubstr("priority"));
}

TEST(ScheduleTable, RefusesTheSameNameTwiceAndMoreThanAThousand) {
  ScheduleTable table;
  for (std::size_t i = 0; i < kSchedulesMax; ++i) {
    ASSERT_TRUE(table.add(hourly(fmt::format("{}", i))));
  }

  const Result<> again = table.add(hourly("7"));
  const Result<> more = table.add(hourly("one more"));

  ASSERT_FALSE(again);
  EXPECT_THAT(again.error().message, HasSubstr("already"));
  ASSERT_FALSE(more);
  EXPECT_THAT(more.error().message, HasSubstr("at most 1000"));
  EXPECT_EQ(table.all().size(), kSchedulesMax);
}

}  // namespace
}  // namespace recourse::engine

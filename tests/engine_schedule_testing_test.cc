// Schedules in a test of one's own: exact, and without waiting.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "recourse/testing.h"

namespace recourse::tests {
namespace {

using namespace std::chrono_literals;
using recourse::testing::TestEngine;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

class TestEngineSchedule : public ::testing::Test {
 protected:
  TestEngineSchedule() {
    engine_.handle_bytes("report", [this](const Attempt& attempt) {
      occurrences_.push_back(attempt.headers().at("Recourse-Occurrence"));
      ids_.push_back(attempt.id());
      return outcome_;
    });
  }

  TestEngine engine_;
  std::vector<std::string> occurrences_;
  std::vector<std::string> ids_;
  Outcome outcome_ = done();
};

TEST_F(TestEngineSchedule, AnHourOfTenMinutesIsSixTasks) {
  engine_.schedule({.name = "reports", .when = "every 10m", .kind = "report"});

  EXPECT_EQ(engine_.advance(1h), 6);

  EXPECT_EQ(occurrences_.front(), "2026-01-01T00:10:00Z");
  EXPECT_EQ(occurrences_.back(), "2026-01-01T01:00:00Z");
}

TEST_F(TestEngineSchedule, RunsAtItsTimeAndNotBefore) {
  engine_.schedule({.name = "reports", .when = "30 4 * * *", .kind = "report"});

  EXPECT_EQ(engine_.advance(4h + 30min - 1us), 0);
  EXPECT_EQ(engine_.advance(1us), 1);
  EXPECT_EQ(engine_.advance(24h), 1);

  EXPECT_EQ(engine_.find(ids_.front()).value().created_at,
            TimePoint{std::chrono::sys_days{std::chrono::year{2026} / 1 / 1}} + 4h + 30min);
}

TEST_F(TestEngineSchedule, AWeekHasFiveWorkingDays) {
  engine_.schedule({.name = "reports", .when = "0 9 * * mon-fri", .kind = "report"});

  EXPECT_EQ(engine_.advance(7 * 24h), 5);
}

TEST_F(TestEngineSchedule, ATaskOfAScheduleIsRetriedAsAnyOther) {
  engine_.schedule(
      {.name = "reports", .when = "@hourly", .kind = "report", .options = {.max_retries = 2}});
  outcome_ = retry("no luck");

  EXPECT_EQ(engine_.advance(1h + 30min), 3);

  EXPECT_EQ(engine_.find(ids_.front()).value().state, "dead");
  EXPECT_THAT(ids_, ::testing::Each(ids_.front()));
}

TEST_F(TestEngineSchedule, PayloadAndOptionsAreEachTasks) {
  std::vector<std::string> payloads;
  engine_.handle_bytes("other", [&](const Attempt& attempt) {
    payloads.push_back(attempt.payload() + " for " + attempt.tenant());
    return done();
  });
  engine_.schedule({.name = "others",
                    .when = "@hourly",
                    .kind = "other",
                    .payload = "sales",
                    .options = {.delay = 5min, .tenant = "acme"}});

  EXPECT_EQ(engine_.advance(1h + 5min - 1us), 0);
  engine_.advance(1min);

  EXPECT_THAT(payloads, ElementsAre("sales for acme"));
}

TEST_F(TestEngineSchedule, CatchUpRunsTheLatestOfThoseBeforeTheStart) {
  engine_.schedule({.name = "reports", .when = "15 * * * *", .kind = "report", .catch_up = 3h});

  EXPECT_EQ(engine_.run_due(), 0);  // the start has done it
  EXPECT_THAT(occurrences_, ElementsAre("2025-12-31T23:15:00Z"));
}

TEST_F(TestEngineSchedule, ABadOneIsToldByTheFirstSubmit) {
  engine_.schedule({.name = "reports", .when = "every now and then", .kind = "report"});

  const auto id = engine_.submit_bytes("report", "{}");

  ASSERT_FALSE(id);
  EXPECT_THAT(id.error().message, HasSubstr("30s, 5m"));
}

}  // namespace
}  // namespace recourse::tests

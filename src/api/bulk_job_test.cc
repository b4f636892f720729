#include "api/bulk_job.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace recourse::api {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;

BulkJob job_with(Action action, const char* filter) {
  BulkJob job;
  job.id = "blk_1";
  job.action = action;
  job.filter = boost::json::parse(filter).as_object();
  job.by = "olga";
  return job;
}

TEST(BulkJob, IsTheSameAfterItWasWrittenDown) {
  BulkJob job = job_with(Action::kCancel, R"({"kind":["a","b"]})");
  job.tenant = task::Tenant("t");
  job.reason = "why";
  job.limit = 7;
  job.as_of = TimePoint(5s);
  job.beat_at = TimePoint(6s);
  job.state = "cancelled";
  job.cursor = task::parse_task_id("id", "tsk_01JCVX2M8Q6E4ZK9T3W5R7YBND").value();
  job.done = 1;
  job.requested = 2;
  job.refused = 3;
  job.errors = {"x"};
  const auto read = job_of(to_value(job));
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(to_value(*read), to_value(job));
  EXPECT_EQ(read->tenant, job.tenant);
  EXPECT_EQ(read->cursor, job.cursor);
  EXPECT_EQ(read->beat_at, job.beat_at);
  // What only its runner needs is not shown.
  EXPECT_FALSE(to_json(job).contains("cursor"));
  EXPECT_FALSE(to_json(job).contains("beat_at"));
}

TEST(BulkJob, OneThatCannotBeReadIsSaidToBeCorrupt) {
  for (const char* text : {"", "{}", "[]", R"({"id":1})"}) {
    const auto read = job_of(text);
    ASSERT_FALSE(read) << text;
    EXPECT_EQ(read.error().code, ErrorCode::kCorrupt);
  }
}

TEST(BulkPlan, ARetryMeansWhatEndedBadlyUnlessStatesAreNamed) {
  std::vector<FieldError> errors;
  const BulkPlan bad = plan_of(job_with(Action::kRetry, "{}"), errors);
  EXPECT_THAT(bad.filter.states, ElementsAre(task::State::kDead, task::State::kFailed));
  EXPECT_EQ(bad.order.move, task::Move::kReopen);
  EXPECT_EQ(plan_of(job_with(Action::kRetry, R"({"state":"failed"})"), errors).order.move,
            task::Move::kReopen);
  EXPECT_EQ(plan_of(job_with(Action::kRetry, R"({"state":"pending"})"), errors).order.move,
            task::Move::kRetryNow);
  EXPECT_TRUE(errors.empty());
  (void)plan_of(job_with(Action::kRetry, R"({"state":["dead","pending"]})"), errors);
  ASSERT_EQ(errors.size(), 1U);
  EXPECT_EQ(errors.front().pointer, "/filter/state");
}

TEST(BulkPlan, StaysWithinTheTenantOfWhoeverAsked) {
  std::vector<FieldError> errors;
  BulkJob job = job_with(Action::kCancel, R"({"kind":"a"})");
  job.tenant = task::Tenant("mine");
  job.reason = "why";
  const BulkPlan plan = plan_of(job, errors);
  EXPECT_EQ(plan.filter.tenant, task::Tenant("mine"));
  EXPECT_EQ(plan.order.move, task::Move::kCancel);
  EXPECT_EQ(plan.order.reason, "why");
  EXPECT_TRUE(errors.empty());
}

}  // namespace
}  // namespace recourse::api

#include "degrade/failure.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace recourse::degrade {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;

constexpr TimePoint kNow{std::chrono::sys_days{std::chrono::year{2026} / 5 / 1}};

Failure points() {
  return {.kind = task::Kind("grant-points"),
          .tenant = task::Tenant("shop"),
          .payload = R"({"amount":100})",
          .member = "m-1",
          .related_id = "order-7",
          .type = "EARN_ORDER",
          .remark = "消费获得",
          .amount = 100,
          .expires_at = kNow + 24h * 365,
          .reason = "points service\nis down"};
}

task::Task stored(const Failure& failure) {
  UlidSequence ids(1);
  const store::Submission submission =
      submission_of(task::TaskId(ids.next(kNow)), failure, RetryPreset());
  task::Task task;
  task.id = submission.id;
  task.spec = submission.spec;
  task.created_at = kNow + 10min;  // it waited in a spool
  task.due_at = kNow + submission.delay;
  return task;
}

// DEGR-2
TEST(FailureRecord, ComesBackAsItWasGiven) {
  const Failure failure = points();
  ASSERT_TRUE(validate(failure));

  const Record record = record_of(stored(failure));

  EXPECT_EQ(record.kind, failure.kind);
  EXPECT_EQ(record.tenant, failure.tenant);
  EXPECT_EQ(record.member, failure.member);
  EXPECT_EQ(record.related_id, failure.related_id);
  EXPECT_EQ(record.type, failure.type);
  EXPECT_EQ(record.remark, failure.remark);
  EXPECT_EQ(record.amount, failure.amount);
  EXPECT_EQ(record.expires_at, failure.expires_at);
  EXPECT_EQ(record.failure_reason, "points service is down");
  EXPECT_EQ(record.last_error, "points service is down");
  EXPECT_EQ(record.failed_at, kNow);
  EXPECT_EQ(record.status, Status::kPending);
  EXPECT_EQ(record.retries, 0);
  EXPECT_EQ(record.last_retry_at, std::nullopt);
  EXPECT_EQ(record.next_retry_at, kNow + 1min);
}

TEST(FailureRecord, WithoutKeysHasNone) {
  const Record record = record_of(stored({.kind = task::Kind("mail")}));

  EXPECT_EQ(record.member, "");
  EXPECT_EQ(record.amount, std::nullopt);
  EXPECT_EQ(record.expires_at, std::nullopt);
  EXPECT_TRUE(stored({.kind = task::Kind("mail")}).spec.search_keys.empty());
}

TEST(FailureRecord, TellsItsLastRetryWhereTheRowKnowsIt) {
  task::Task task = stored(points());
  task.attempts = 2;
  EXPECT_TRUE(needs_attempts(record_of(task)));

  task.state = task::State::kSucceeded;
  task.ended_at = kNow + 3min;

  EXPECT_FALSE(needs_attempts(record_of(task)));
  EXPECT_EQ(record_of(task).last_retry_at, kNow + 3min);
}

// As many as its episode has had: a person's retry of one that FAILED begins another.
TEST(FailureRecord, CountsTheRetriesOfItsEpisode) {
  task::Task task = stored(points());
  task.attempts = 3;
  task.retries = 3;
  task.state = task::State::kDead;
  EXPECT_EQ(record_of(task).retries, 3);

  task.episode = 2;
  task.retries = 0;
  task.state = task::State::kPending;
  EXPECT_EQ(record_of(task).retries, 0);

  task.attempts = 4;
  task.state = task::State::kDead;
  EXPECT_EQ(record_of(task).retries, 1) << "so is one that a rule took for final";
  task.state = task::State::kSucceeded;
  EXPECT_EQ(record_of(task).retries, 1) << "the run that succeeded is one";
}

TEST(IsSameRecord, ARepetitionMayPutItsReasonInOtherWords) {
  const task::Task there = stored(points());
  const auto again = [&](const Failure& failure) {
    return is_same_record(there, submission_of(there.id, failure, {}));
  };
  Failure failure = points();
  failure.reason = "in other words";
  EXPECT_TRUE(again(failure));

  failure.payload += " ";
  EXPECT_FALSE(again(failure));
  failure = points();
  failure.member = "m-2";
  EXPECT_FALSE(again(failure));
  failure = points();
  failure.amount = 101;
  EXPECT_FALSE(again(failure));
  failure = points();
  failure.kind = task::Kind("mail");
  EXPECT_FALSE(again(failure));
  failure = points();
  failure.tenant = task::Tenant("another");
  EXPECT_FALSE(again(failure));
}

TEST(FailureRecord, BadInputIsRefusedByItsFields) {
  Failure failure = points();
  failure.member = std::string(300, 'm');
  failure.remark = "two\nlines";
  const Result<> both = validate(failure);
  ASSERT_FALSE(both);
  EXPECT_EQ(both.error().code, ErrorCode::kInvalid);
  EXPECT_THAT(both.error().message, HasSubstr("failure.member"));
  EXPECT_THAT(both.error().message, HasSubstr("failure.remark"));

  failure = points();
  failure.payload = std::string(task::kPayloadBytesMax + 1, 'x');
  EXPECT_THAT(validate(failure).error().message, HasSubstr("payload"));

  failure = points();
  failure.kind = task::Kind("");
  EXPECT_THAT(validate(failure).error().message, HasSubstr("kind"));
}

// However long, and in whatever bytes: whoever reports a failure has other worries.
TEST(FailureRecord, AnyReasonIsTaken) {
  Failure failure = points();
  failure.reason = std::string(100'000, '\xFF');

  const task::Task task = stored(failure);

  EXPECT_TRUE(task::validate(task.spec));
  EXPECT_FALSE(record_of(task).failure_reason.empty());
}

TEST(RetryPreset, BadOnesAreRefusedByName) {
  const RetryPreset none{.max_retries = 0};
  EXPECT_THAT(validate(none).error().message, HasSubstr("degrade.max_retries"));
  const RetryPreset backwards{.first_after = -1s};
  EXPECT_THAT(validate(backwards).error().message, HasSubstr("degrade.first_retry_after"));
}

}  // namespace
}  // namespace recourse::degrade

#include "api/submission.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace recourse::api {
namespace {

using namespace std::chrono_literals;

class SubmissionTest : public testing::Test {
 protected:
  Submit read(const std::string& text) {
    errors_.clear();
    const boost::json::value parsed = boost::json::parse(text);
    const SubmitRules rules{
        .caller = caller_,
        .backoffs = backoffs_,
        .defaults = [](task::TaskSpec& spec) { spec.max_retries = 9; },
        .now = TimePoint(std::chrono::sys_days(2026y / 11 / 16).time_since_epoch()),
        .payload_bytes_max = 20,
        .clock = TimePoint(std::chrono::sys_days(2026y / 11 / 16).time_since_epoch())};
    return read_submit(parsed.as_object(), text, "/tasks/3", rules, errors_);
  }

  Identity caller_{.name = "olga", .role = Role::kOperator};
  std::vector<std::string> backoffs_{"fixed"};
  std::vector<FieldError> errors_;
};

TEST_F(SubmissionTest, ReadsAllThatMayBeSaid) {
  const Submit submit =
      read(R"({"kind":"k","tenant":"t","unique_key":"u","shard_key":"s","priority":7,
    "payload": {"a" : 1.0},"delay":"2s","timeout":"3s","max_retries":4,"backoff":"fixed",
    "headers":{"X-A":"1"},"search_keys":{"order":"o"},"deadline":"2030-01-01T00:00:00Z",
    "trace_parent":"00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
    "id":"tsk_01JCVX2M8Q6E4ZK9T3W5R7YBND"})");
  ASSERT_TRUE(errors_.empty()) << errors_.front().pointer << errors_.front().detail;
  const task::TaskSpec& spec = submit.submission.spec;
  EXPECT_EQ(spec.payload, R"({"a" : 1.0})");
  EXPECT_EQ(spec.tenant.value, "t");
  EXPECT_EQ(spec.unique_key.value, "u");
  EXPECT_EQ(spec.shard_key.value, "s");
  EXPECT_EQ(spec.priority, 7);
  EXPECT_EQ(spec.timeout, 3s);
  EXPECT_EQ(spec.max_retries, 4);
  EXPECT_EQ(spec.headers.at("X-A"), "1");
  EXPECT_EQ(spec.search_keys.at("order"), "o");
  EXPECT_TRUE(spec.deadline);
  EXPECT_EQ(submit.submission.delay, 2s);
  // It may have been sent before.
  EXPECT_EQ(submit.novelty, store::Novelty::kRepeat);
}

TEST_F(SubmissionTest, TakesTheKindsDefaultsWhereNothingIsSaid) {
  EXPECT_EQ(read(R"({"kind":"k"})").submission.spec.max_retries, 9);
  EXPECT_EQ(read(R"({"kind":"k"})").novelty, store::Novelty::kFresh);
}

TEST_F(SubmissionTest, ACallerOfOneTenantSubmitsForThatOne) {
  caller_.tenant = task::Tenant("mine");
  EXPECT_EQ(read(R"({"kind":"k"})").submission.spec.tenant.value, "mine");
  EXPECT_EQ(read(R"({"kind":"k","tenant":"mine"})").submission.spec.tenant.value, "mine");
  EXPECT_TRUE(errors_.empty());
  EXPECT_EQ(read(R"({"kind":"k","tenant":"other"})").submission.spec.tenant.value, "mine");
  ASSERT_EQ(errors_.size(), 1U);
  EXPECT_EQ(errors_.front().pointer, "/tasks/3/tenant");
}

TEST_F(SubmissionTest, APayloadOfNullIsNull) {
  EXPECT_EQ(read(R"({"kind":"k","payload":null})").submission.spec.payload, "null");
  EXPECT_EQ(read(R"({"kind":"k","payload":"x","payload":2})").submission.spec.payload, "2");
  EXPECT_EQ(read(R"({"kind":"k","payload_base64":"AAE="})").submission.spec.payload,
            std::string("\0\1", 2));
}

TEST_F(SubmissionTest, ADeadlineThatHasPassedIsRefusedUnlessItMayBeARepetition) {
  read(R"({"kind":"k","deadline":"2026-11-15T23:59:59Z"})");
  ASSERT_EQ(errors_.size(), 1U);
  EXPECT_EQ(errors_.front().pointer, "/tasks/3/deadline");

  read(R"({"kind":"k","deadline":"2026-11-16T00:00:01Z"})");
  EXPECT_TRUE(errors_.empty());
  read(R"({"kind":"k","deadline":"2026-11-15T23:59:59Z","id":"tsk_01JCVX2M8Q6E4ZK9T3W5R7YBND"})");
  EXPECT_TRUE(errors_.empty());
}

TEST_F(SubmissionTest, APayloadIsAsLargeAsTheServerAllows) {
  read(R"({"kind":"k","payload":"123456789012345678"})");
  EXPECT_TRUE(errors_.empty());

  read(R"({"kind":"k","payload":"1234567890123456789"})");
  ASSERT_EQ(errors_.size(), 1U);
  EXPECT_EQ(errors_.front().detail, "has 21 bytes; at most 20 are allowed");
}

TEST_F(SubmissionTest, SaysWhatTheFieldsAloneDoNotShow) {
  (void)read(R"({"kind":"a\nb"})");
  ASSERT_EQ(errors_.size(), 1U);
  EXPECT_EQ(errors_.front().pointer, "/tasks/3");
  EXPECT_THAT(errors_.front().detail, testing::HasSubstr("kind"));
}

}  // namespace
}  // namespace recourse::api

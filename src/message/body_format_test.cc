#include "message/body_format.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace recourse::message {
namespace {

TEST(BodyFormat, JsonIsAnyOneValueAndNothingElse) {
  for (const char* body : {"{}", R"({"a": [1, 2]})", "7", "null", " \"text\" "}) {
    EXPECT_EQ(misfit(body, BodyFormat::kJson), std::nullopt) << body;
  }
  for (const char* body : {"", " ", "{nonsense", "{} {}", "no json", "\xFF"}) {
    ASSERT_TRUE(misfit(body, BodyFormat::kJson)) << body;
    EXPECT_THAT(*misfit(body, BodyFormat::kJson), testing::HasSubstr("recourse task edit"));
    EXPECT_EQ(misfit(body, BodyFormat::kAny), std::nullopt) << body;
  }
}

TEST(BodyFormat, WhatIsUnreadableIsForAPerson) {
  const policy::Decision decision = unreadable("why");

  EXPECT_EQ(decision.outcome, policy::Outcome::kDeadLetter);
  EXPECT_EQ(decision.code, "SERDE_ERROR");
  EXPECT_FALSE(policy::blames_downstream(decision)) << "nobody was called";
}

}  // namespace
}  // namespace recourse::message

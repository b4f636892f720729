#include "sql/postgres/errors.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace recourse::sql::postgres {
namespace {

using testing::HasSubstr;
using testing::Not;

TEST(PostgresErrors, AreNamedByWhatTheCallerShouldDo) {
  for (const char* state :
       {"08006", "57P01", "57P03", "57014", "53100", "53300", "25006", "58030"}) {
    EXPECT_EQ(code_of(state), ErrorCode::kUnavailable) << state;
  }
  for (const char* state : {"40001", "40P01", "23505"}) {
    EXPECT_EQ(code_of(state), ErrorCode::kConflict) << state;
  }
  for (const char* state : {"22003", "42P01", "28P01", "3D000", "25P02", "0A000"}) {
    EXPECT_EQ(code_of(state), ErrorCode::kInvalid) << state;
  }
  EXPECT_EQ(code_of("55P03"), ErrorCode::kExhausted);
  EXPECT_EQ(code_of("XX001"), ErrorCode::kCorrupt);
  EXPECT_EQ(code_of("XX002"), ErrorCode::kCorrupt);
  EXPECT_EQ(code_of("XX000"), ErrorCode::kUnavailable);
}

TEST(PostgresErrors, SayWhatToDoAboutIt) {
  EXPECT_THAT(error_of("53100", "could not extend file").message, HasSubstr("disk is full"));
  EXPECT_THAT(error_of("25006", "cannot execute INSERT").message, HasSubstr("primary"));
  EXPECT_THAT(error_of("42501", "permission denied").message, HasSubstr("grant"));
  EXPECT_THAT(error_of("28P01", "password failed").message, HasSubstr("password in the URL"));
}

TEST(PostgresErrors, KeepTheServersWordsAndCode) {
  EXPECT_EQ(error_of("22012", "division by zero").message, "PostgreSQL: division by zero (22012)");
}

TEST(PostgresErrors, FindTheCodeOfARefusedConnectionInLibpqsText) {
  const auto refusal = find_refusal(
      "connection to server at \"::1\", port 5432 failed: FATAL:  28P01: password authentication "
      "failed for user \"a\"\nLOCATION:  auth_failed, auth.c:331\n");

  ASSERT_TRUE(refusal);
  EXPECT_EQ(refusal->sqlstate, "28P01");
  EXPECT_EQ(refusal->message, "password authentication failed for user \"a\"");
}

TEST(PostgresErrors, FindNoCodeWhereTheServerWasNotReached) {
  EXPECT_FALSE(find_refusal("connection to server at \"h\", port 1 failed: Connection refused\n"));
  EXPECT_FALSE(find_refusal(""));
  EXPECT_FALSE(find_refusal("x:  28P01"));
}

}  // namespace
}  // namespace recourse::sql::postgres

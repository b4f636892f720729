#include "cli/exit_code.h"

#include <gtest/gtest.h>

namespace recourse::cli {
namespace {

TEST(ExitCode, TheNumbersAreAPromise) {
  EXPECT_EQ(static_cast<int>(ExitCode::kOk), 0);
  EXPECT_EQ(static_cast<int>(ExitCode::kFailure), 1);
  EXPECT_EQ(static_cast<int>(ExitCode::kUsage), 2);
  EXPECT_EQ(static_cast<int>(ExitCode::kNotFound), 3);
  EXPECT_EQ(static_cast<int>(ExitCode::kConflict), 4);
  EXPECT_EQ(static_cast<int>(ExitCode::kAuth), 5);
  EXPECT_EQ(static_cast<int>(ExitCode::kDown), 6);
  EXPECT_EQ(static_cast<int>(ExitCode::kPartlyDone), 7);
}

TEST(ExitCode, FollowsTheErrorsReaction) {
  EXPECT_EQ(exit_code_of(ErrorCode::kNotFound), ExitCode::kNotFound);
  EXPECT_EQ(exit_code_of(ErrorCode::kUnavailable), ExitCode::kDown);
  EXPECT_EQ(exit_code_of(ErrorCode::kInvalid), ExitCode::kUsage);
}

TEST(ExitCode, FollowsTheAnswersStatus) {
  EXPECT_EQ(exit_code_of_status(201), ExitCode::kOk);
  EXPECT_EQ(exit_code_of_status(207), ExitCode::kPartlyDone);
  EXPECT_EQ(exit_code_of_status(401), ExitCode::kAuth);
  EXPECT_EQ(exit_code_of_status(404), ExitCode::kNotFound);
  EXPECT_EQ(exit_code_of_status(409), ExitCode::kConflict);
  EXPECT_EQ(exit_code_of_status(422), ExitCode::kUsage);
  EXPECT_EQ(exit_code_of_status(503), ExitCode::kDown);
  EXPECT_EQ(exit_code_of_status(500), ExitCode::kFailure);
  EXPECT_EQ(exit_code_of_status(302), ExitCode::kFailure);
}

}  // namespace
}  // namespace recourse::cli

#include "base/field_checks.h"

#include <gtest/gtest.h>

#include <limits>

#include "base/log.h"
#include "base/named.h"

namespace recourse {
namespace {

using namespace std::chrono_literals;

TEST(FieldChecks, ValuesWithinTheirRangePass) {
  EXPECT_TRUE(FieldChecks("breaker")
                  .between("window", 1, 1, 10)
                  .between("window", 10, 1, 10)
                  .require(true, "name", "must not be empty")
                  .result());
}

TEST(FieldChecks, ARefusalNamesTheFieldTheRangeAndTheValue) {
  const Result<> result = FieldChecks("breaker").between("window", 0, 1, 10'000).result();

  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code, ErrorCode::kInvalid);
  EXPECT_EQ(result.error().message, "breaker.window must be between 1 and 10000, not 0");
}

TEST(FieldChecks, EveryBadFieldIsNamedAtOnce) {
  const Result<> result = FieldChecks("backoff")
                              .between("jitter_ratio", 3.0, 0.0, 1.0)
                              .between<Duration>("base", -1s, 0s, 60s)
                              .require(false, "max", "must be at least min")
                              .result();

  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().message,
            "backoff.jitter_ratio must be between 0 and 1, not 3; "
            "backoff.base must be between 0s and 1m, not -1s; backoff.max must be at least min");
}

TEST(FieldChecks, NotANumberIsOutsideEveryRange) {
  const double nan = std::numeric_limits<double>::quiet_NaN();

  EXPECT_FALSE(FieldChecks("any").between("ratio", nan, 0.0, 1.0).result());
}

TEST(Named, EveryNameParsesBack) {
  for (const LogLevel level : kAllLogLevels) {
    EXPECT_EQ(find_named(kAllLogLevels, to_string(level)), level);
  }
}

TEST(Named, AnUnknownNameIsAnsweredWithTheKnownOnes) {
  const Result<LogLevel> level = parse_named("log.level", kAllLogLevels, "loud");

  ASSERT_FALSE(level);
  EXPECT_EQ(level.error().message,
            "log.level must be one of debug, info, warning, error, not \"loud\"");
}

}  // namespace
}  // namespace recourse

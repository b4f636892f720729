#include "sql/pool.h"

#include <gtest/gtest.h>

#include <chrono>

namespace recourse::sql {
namespace {

using namespace std::chrono_literals;

// One that is given up early, and tried again by the next call, keeps a busy server busy.
TEST(Pool, AConnectionThatIsMadeHasTheWholeTime) {
  Deadline given;
  Pool pool(
      [&](Deadline deadline) -> Result<std::unique_ptr<Connection>> {
        given = deadline;
        return fail(ErrorCode::kUnavailable, "it is away");
      },
      1);
  const Deadline until = std::chrono::steady_clock::now() + 1h;

  EXPECT_FALSE(pool.borrow(until, std::chrono::steady_clock::now() + 1ms));

  EXPECT_EQ(given, until);
}

TEST(Pool, OneThatOthersHaveIsWaitedForOnlyAsLongAsTheCallerLikes) {
  Pool pool(
      [](Deadline) -> Result<std::unique_ptr<Connection>> {
        return fail(ErrorCode::kCorrupt, "not asked for");
      },
      0);
  const auto begun = std::chrono::steady_clock::now();

  const auto loan = pool.borrow(begun + 1h, begun + 10ms);

  ASSERT_FALSE(loan);
  EXPECT_EQ(loan.error().code, ErrorCode::kUnavailable);
  EXPECT_LT(std::chrono::steady_clock::now() - begun, 1min);
}

}  // namespace
}  // namespace recourse::sql

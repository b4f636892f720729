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
  constexpr Deadline kUntil = Deadline() + 1'000'000h;

  EXPECT_FALSE(pool.borrow(kUntil, Deadline()));

  EXPECT_EQ(given, kUntil);
}

TEST(Pool, OneThatOthersHaveIsWaitedForOnlyAsLongAsTheCallerLikes) {
  Pool pool(
      [](Deadline) -> Result<std::unique_ptr<Connection>> {
        return fail(ErrorCode::kCorrupt, "not asked for");
      },
      0);

  const auto loan = pool.borrow(Deadline::max(), Deadline());

  ASSERT_FALSE(loan);
  EXPECT_EQ(loan.error().code, ErrorCode::kUnavailable);
}

}  // namespace
}  // namespace recourse::sql

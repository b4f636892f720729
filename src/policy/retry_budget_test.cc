#include "policy/retry_budget.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace recourse::policy {
namespace {

using std::chrono_literals::operator""s;

constexpr TimePoint kStart{std::chrono::seconds(1'000)};

int retries_allowed(RetryBudget& budget, TimePoint now) {
  int allowed = 0;
  while (budget.try_retry(now)) ++allowed;
  return allowed;
}

TEST(RetryBudget, AQuietKindMayRetryTenTimesASecond) {
  RetryBudget budget({});

  EXPECT_EQ(retries_allowed(budget, kStart), 100) << "ten seconds' worth at once";
  EXPECT_EQ(retries_allowed(budget, kStart + 10s), 100) << "and again when those are forgotten";
}

TEST(RetryBudget, ABusyKindMayAddATenthOfItsFirstAttempts) {
  RetryBudget budget({});
  for (int i = 0; i < 5'000; ++i) budget.count_first_attempt(kStart);

  EXPECT_EQ(retries_allowed(budget, kStart), 600);
}

TEST(RetryBudget, WithoutAFloorNothingIsRetriedWithoutFirstAttempts) {
  RetryBudget budget({.per_second = 0});

  EXPECT_FALSE(budget.try_retry(kStart));
}

TEST(BudgetSettings, BadOnesAreRefusedByNameAndRange) {
  EXPECT_EQ(validate(BudgetSettings{.ratio = -0.1, .window = 0s}).error().message,
            "budget.ratio must be between 0 and 10, not -0.1; "
            "budget.window must be between 1s and 1h, not 0s");
}

RC_GTEST_PROP(RetryBudget, RetriesNeverExceedTheirShare, ()) {
  RetryBudget budget({.ratio = 0.1, .per_second = 1, .window = 10s});
  const auto firsts = *rc::gen::inRange(0, 1'000);
  for (int i = 0; i < firsts; ++i) budget.count_first_attempt(kStart);

  const int allowed = retries_allowed(budget, kStart);

  RC_ASSERT(allowed <= firsts * 0.1 + 10);
  RC_ASSERT(allowed > firsts * 0.1 + 9 - 1e-9);
}

}  // namespace
}  // namespace recourse::policy

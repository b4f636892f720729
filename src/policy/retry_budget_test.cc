#include "policy/retry_budget.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <vector>

#include "policy/test_moments.h"

namespace recourse::policy {
namespace {

using namespace std::chrono_literals;

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

RC_GTEST_PROP(RetryBudget, NoWindowSeesMoreRetriesThanItsShare, ()) {
  RetryBudget budget({.ratio = 0.1, .per_second = 1, .window = 10s});
  TimePoint now = kStart;
  std::vector<TimePoint> firsts;
  std::vector<TimePoint> retries;

  for (const bool first : *rc::gen::arbitrary<std::vector<bool>>()) {
    now += 300ms;
    for (int i = 0; first && i < 20; ++i) {
      budget.count_first_attempt(now);
      firsts.push_back(now);
    }
    while (budget.try_retry(now)) retries.push_back(now);

    const auto since = [&](const std::vector<TimePoint>& times, Duration age) {
      return static_cast<double>(
          std::ranges::count_if(times, [&](TimePoint at) { return at > now - age; }));
    };
    // The window forgets by slices of a second.
    RC_ASSERT(since(retries, 9s) <= 0.1 * since(firsts, 20s) + 10);
  }
}

TEST(RetryBudget, FirstAttemptsAreForgottenToo) {
  RetryBudget budget({.ratio = 1, .per_second = 0});
  budget.count_first_attempt(kStart);

  EXPECT_FALSE(budget.try_retry(kStart + 10s));
}

}  // namespace
}  // namespace recourse::policy

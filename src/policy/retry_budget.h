// Keeps retries from multiplying the load on a downstream that is already failing: they may be a
// share of the recent first attempts, plus a few a second so that a quiet kind can retry at all.
//
// Thread safety: none; a lane owns it.
#pragma once

#include <cstdint>

#include "base/result.h"
#include "base/time.h"
#include "policy/rolling_window.h"

namespace recourse::policy {

struct BudgetSettings {
  double ratio = 0.1;
  double per_second = 10;
  // How far back "recent" goes; the allowance of a whole window may be used at once.
  Duration window = std::chrono::seconds(10);
};

Result<> validate(const BudgetSettings& settings);

class RetryBudget {
 public:
  // The settings must be valid.
  explicit RetryBudget(const BudgetSettings& settings);

  void count_first_attempt(TimePoint now);
  // False when the budget is spent: put the retry off.
  [[nodiscard]] bool try_retry(TimePoint now);

 private:
  struct Counts {
    std::int64_t first_attempts = 0;
    std::int64_t retries = 0;

    Counts& operator+=(const Counts& other);
    Counts& operator-=(const Counts& other);
  };

  BudgetSettings settings_;
  RollingWindow<Counts> recent_;
};

}  // namespace recourse::policy

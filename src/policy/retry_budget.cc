#include "policy/retry_budget.h"

#include "base/field_checks.h"

namespace recourse::policy {

Result<> validate(const BudgetSettings& settings) {
  using namespace std::chrono_literals;
  return FieldChecks("budget")
      .between("ratio", settings.ratio, 0.0, 10.0)
      .between("per_second", settings.per_second, 0.0, 1'000'000.0)
      .between<Duration>("window", settings.window, 1s, 1h)
      .result();
}

RetryBudget::Counts& RetryBudget::Counts::operator+=(const Counts& other) {
  first_attempts += other.first_attempts;
  retries += other.retries;
  return *this;
}

RetryBudget::Counts& RetryBudget::Counts::operator-=(const Counts& other) {
  first_attempts -= other.first_attempts;
  retries -= other.retries;
  return *this;
}

RetryBudget::RetryBudget(const BudgetSettings& settings)
    : settings_(checked(settings)), recent_(settings.window) {}

void RetryBudget::count_first_attempt(TimePoint now) {
  recent_.add(now, {.first_attempts = 1, .retries = 0});
}

bool RetryBudget::try_retry(TimePoint now) {
  const Counts& recent = recent_.total(now);
  const double seconds = std::chrono::duration<double>(settings_.window).count();
  const double allowed =
      settings_.ratio * static_cast<double>(recent.first_attempts) + settings_.per_second * seconds;
  if (static_cast<double>(recent.retries + 1) > allowed) return false;
  recent_.add(now, {.first_attempts = 0, .retries = 1});
  return true;
}

}  // namespace recourse::policy

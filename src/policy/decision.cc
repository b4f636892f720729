#include "policy/decision.h"

#include <utility>

#include "base/field_checks.h"

namespace recourse::policy {

Result<> validate(const Decision& decision) {
  using std::chrono_literals::operator""h;
  constexpr Duration kLongest = 24h * 365;
  return FieldChecks("decision")
      .between("backoff_factor", decision.backoff_factor, 0.0, 1'000.0)
      .between("retry_after", decision.retry_after.value_or(Duration::zero()), Duration::zero(),
               kLongest)
      .between("snooze", decision.snooze.value_or(Duration::zero()), Duration::zero(), kLongest)
      .result();
}

Decision retry(Category category, std::string code, std::string message) {
  Decision decision;
  decision.outcome = Outcome::kRetry;
  decision.category = category;
  decision.prefer_sticky = true;
  decision.code = std::move(code);
  decision.message = std::move(message);
  return decision;
}

Decision dead_letter(Category category, std::string code, std::string message) {
  Decision decision;
  decision.outcome = Outcome::kDeadLetter;
  decision.category = category;
  decision.code = std::move(code);
  decision.message = std::move(message);
  return decision;
}

Decision put_off(Category category, std::string message, double factor) {
  Decision decision = retry(category, std::string(to_string(category)), std::move(message));
  decision.prefer_sticky = false;
  decision.backoff_factor = factor;
  decision.uses_retry = false;
  return decision;
}

}  // namespace recourse::policy

#include "policy/decision.h"

#include <utility>

#include "base/field_checks.h"

namespace recourse::policy {

Result<> validate(const Decision& decision) {
  const bool waits =
      decision.snooze ? *decision.snooze > Duration::zero() : decision.backoff_factor > 0;
  return FieldChecks("decision")
      .between("backoff_factor", decision.backoff_factor, 0.0, 1'000.0)
      .between("retry_after", decision.retry_after.value_or(Duration::zero()), Duration::zero(),
               kLongestWait)
      .between("snooze", decision.snooze.value_or(Duration::zero()), Duration::zero(), kLongestWait)
      .require(decision.uses_retry || waits, "uses_retry",
               "must be true where there is no wait, or it would never end")
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

#include "policy/token_bucket.h"

#include <algorithm>
#include <cmath>

#include "base/field_checks.h"
#include "base/invariant.h"

namespace recourse::policy {
namespace {

constexpr std::int64_t kToken = 1'000'000'000'000;

}  // namespace

Result<> validate(const RateSettings& settings) {
  return FieldChecks("rate")
      .between("per_second", settings.per_second, 0.001, 1'000'000.0)
      .between("burst", settings.burst, 1, 1'000'000)
      .result();
}

TokenBucket::TokenBucket(const RateSettings& settings, TimePoint now)
    : burst_(checked(settings).burst),
      per_microsecond_(std::llround(settings.per_second * kToken / 1e6)),
      held_(burst_ * kToken),
      refilled_at_(now) {}

bool TokenBucket::try_take(TimePoint now, int tokens) {
  if (available_at(now, tokens) > refilled_at_) return false;
  held_ -= tokens * kToken;
  return true;
}

void TokenBucket::give_back() { held_ = std::min(burst_ * kToken, held_ + kToken); }

TimePoint TokenBucket::available_at(TimePoint now, int tokens) {
  invariant(tokens > 0, "a negative number of tokens cannot be taken");
  refill(now);
  if (tokens > burst_) return kNever;
  const std::int64_t missing = tokens * kToken - held_;
  if (missing <= 0) return refilled_at_;
  return saturating_add(refilled_at_,
                        Duration((missing + per_microsecond_ - 1) / per_microsecond_));
}

void TokenBucket::refill(TimePoint now) {
  if (now <= refilled_at_) return;
  const std::int64_t capacity = burst_ * kToken;
  // No more than what fills it, which keeps the product small after a long silence.
  const std::int64_t until_full = (capacity - held_) / per_microsecond_ + 1;
  const std::int64_t passed = std::min<std::int64_t>((now - refilled_at_).count(), until_full);
  held_ = std::min(capacity, held_ + passed * per_microsecond_);
  refilled_at_ = now;
}

}  // namespace recourse::policy

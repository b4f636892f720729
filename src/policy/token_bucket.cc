#include "policy/token_bucket.h"

#include <algorithm>
#include <cmath>

#include "base/field_checks.h"
#include "base/invariant.h"

namespace recourse::policy {
namespace {

constexpr std::int64_t kToken = 1'000'000'000;

}  // namespace

Result<> validate(const RateSettings& settings) {
  return FieldChecks("rate")
      .between("per_second", settings.per_second, 0.001, 1'000'000.0)
      .between("burst", settings.burst, 1, 1'000'000)
      .result();
}

TokenBucket::TokenBucket(const RateSettings& settings, TimePoint now)
    : per_microsecond_(std::llround(settings.per_second * kToken / 1e6)),
      capacity_(settings.burst * kToken),
      held_(capacity_),
      refilled_at_(now) {
  invariant(validate(settings).has_value(), "rate settings are validated before they get here");
}

bool TokenBucket::try_take(TimePoint now, int tokens) {
  refill(now);
  if (tokens * kToken > held_) return false;
  held_ -= tokens * kToken;
  return true;
}

TimePoint TokenBucket::available_at(TimePoint now, int tokens) {
  refill(now);
  const std::int64_t needed = tokens * kToken;
  if (needed > capacity_) return kNever;
  if (needed <= held_) return refilled_at_;
  const std::int64_t wait = (needed - held_ + per_microsecond_ - 1) / per_microsecond_;
  return saturating_add(refilled_at_, Duration(wait));
}

void TokenBucket::refill(TimePoint now) {
  if (now <= refilled_at_) return;
  // No more than what fills it, which keeps the product small after a long silence.
  const std::int64_t until_full = (capacity_ - held_) / per_microsecond_ + 1;
  const std::int64_t passed = std::min<std::int64_t>((now - refilled_at_).count(), until_full);
  held_ = std::min(capacity_, held_ + passed * per_microsecond_);
  refilled_at_ = now;
}

}  // namespace recourse::policy

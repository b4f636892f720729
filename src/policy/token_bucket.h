// A rate limit: so many a second on average, so many at once at most.
//
// Whole numbers throughout (10^-12 of a token; the rate is rounded once, to a millionth of a token
// a second), so that the moment it names for the next token is the exact one, however long it runs.
//
// Thread safety: none.
#pragma once

#include <cstdint>

#include "base/result.h"
#include "base/time.h"

namespace recourse::policy {

struct RateSettings {
  double per_second = 100;
  int burst = 100;
};

Result<> validate(const RateSettings& settings);

class TokenBucket {
 public:
  // Full at the start. The settings must be valid.
  TokenBucket(const RateSettings& settings, TimePoint now);

  // Takes all of them or none.
  [[nodiscard]] bool try_take(TimePoint now, int tokens = 1);
  // One that was taken in vain.
  void give_back();
  // The first moment at which try_take will succeed, if nobody takes any before; kNever where more
  // are asked for than ever fit.
  [[nodiscard]] TimePoint available_at(TimePoint now, int tokens = 1);

 private:
  void refill(TimePoint now);

  std::int64_t burst_;
  std::int64_t per_microsecond_;  // in 10^-12 tokens
  std::int64_t held_;             // in 10^-12 tokens
  TimePoint refilled_at_;
};

}  // namespace recourse::policy

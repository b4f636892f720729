// How long to wait before the next retry.
//
// A curve says how the wait grows; it is clamped to [min, max] and spread by jitter within those,
// so that a crowd of tasks that failed together does not come back together. Curves have names, and
// users may add their own.
#pragma once

#include <array>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/rng.h"
#include "base/time.h"

namespace recourse::policy {

enum class Jitter : std::uint8_t {
  kNone,
  kRatio,  // delay x (1 - ratio) to delay x (1 + ratio)
  kEqual,  // half of the delay to all of it
  kFull,   // zero to all of it
};

inline constexpr std::array kAllJitters{Jitter::kNone, Jitter::kRatio, Jitter::kEqual,
                                        Jitter::kFull};

constexpr std::string_view to_string(Jitter jitter) {
  switch (jitter) {
    case Jitter::kNone: return "none";
    case Jitter::kRatio: return "ratio";
    case Jitter::kEqual: return "equal";
    case Jitter::kFull: return "full";
  }
  std::abort();
}

struct BackoffSettings {
  // A name in the registry: fixed, linear, exponential, message, or one of the user's own.
  std::string strategy = "exponential";
  Duration base = std::chrono::seconds(1);
  Duration min = std::chrono::milliseconds(500);
  Duration max = std::chrono::seconds(300);
  Jitter jitter = Jitter::kRatio;
  double jitter_ratio = 0.2;
};

// Its name is the registry's to check.
Result<> validate(const BackoffSettings& settings);

// The wait before retry number `retry`, which counts from 1. Any answer is clamped; one that throws
// waits for the maximum.
using Curve = std::function<Duration(Duration base, int retry)>;

class BackoffRegistry {
 public:
  // Knows fixed, linear, exponential and message: 1, 2, 4, 8, 16 times the base, without jitter.
  BackoffRegistry();

  // Refused where the name is taken or is not 1 to 64 of a-z, A-Z, 0-9, '-', '_' and '.'.
  Result<> add(std::string name, Curve curve);

  [[nodiscard]] std::vector<std::string> names() const;

 private:
  friend class Backoff;
  struct Strategy {
    Curve curve;
    bool jittered = true;
  };
  std::map<std::string, Strategy, std::less<>> strategies_;
};

class Backoff {
 public:
  // Invalid settings are refused by field, an unknown strategy with the known ones.
  static Result<Backoff> make(const BackoffRegistry& registry, const BackoffSettings& settings);

  // Within [min, max] and never shorter than for an earlier retry, if the curve is not.
  [[nodiscard]] Duration before_jitter(int retry) const;
  // Within [min, max].
  [[nodiscard]] Duration delay(int retry, Rng& rng) const;

  [[nodiscard]] Duration max() const { return settings_.max; }

 private:
  Backoff(Curve curve, BackoffSettings settings);

  Curve curve_;
  BackoffSettings settings_;
};

}  // namespace recourse::policy

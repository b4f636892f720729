// Stops calling what is failing, looks again after a while with a few probes, and goes on when they
// come back well.
//
//   closed ──too many failed or slow──> open ──open_for has passed──> half open
//      ^                                 ^                              │  │
//      └────────── probes went well ─────┼──────────────────────────────┘  │
//                                        └──────── probes went badly ──────┘
//
// Invariants
//   1. While open no call is permitted; while half open at most `probes` are.
//   2. A call counts only in the state it was permitted in: one that began before the breaker
//   opened
//      says nothing of the downstream's health afterwards.
//
// Thread safety: none; a lane owns it.
#pragma once

#include <array>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <string_view>

#include "base/result.h"
#include "base/time.h"
#include "policy/call_window.h"

namespace recourse::policy {

enum class WindowType : std::uint8_t { kCount, kTime };

inline constexpr std::array kAllWindowTypes{WindowType::kCount, WindowType::kTime};

constexpr std::string_view to_string(WindowType type) {
  switch (type) {
    case WindowType::kCount: return "count";
    case WindowType::kTime: return "time";
  }
  std::abort();
}

struct BreakerSettings {
  WindowType window_type = WindowType::kCount;
  // The last so many calls...
  int window_calls = 100;
  // ...or the calls of this long.
  Duration window_time = std::chrono::seconds(60);
  // Fewer say nothing.
  int min_calls = 20;
  // Failed or timed out, of all in the window: opens at this much or more.
  double failure_ratio = 0.5;
  // A call that takes longer is slow, even if it succeeds; opens at this much or more of them.
  Duration slow_call = std::chrono::hours(24);
  double slow_ratio = 1.0;
  Duration open_for = std::chrono::seconds(30);
  int probes = 5;
};

Result<> validate(const BreakerSettings& settings);

enum class BreakerState : std::uint8_t { kClosed, kOpen, kHalfOpen };

constexpr std::string_view to_string(BreakerState state) {
  switch (state) {
    case BreakerState::kClosed: return "closed";
    case BreakerState::kOpen: return "open";
    case BreakerState::kHalfOpen: return "half_open";
  }
  std::abort();
}

struct BreakerChange {
  BreakerState from;
  BreakerState to;

  friend bool operator==(const BreakerChange&, const BreakerChange&) = default;
};

// Leave to make one call; to be answered with record or abandon.
struct Permit {
  std::uint64_t period;  // between two changes of state
};

struct CallResult {
  bool failed;  // or timed out
  Duration took;
};

class CircuitBreaker {
 public:
  // The settings must be valid.
  explicit CircuitBreaker(const BreakerSettings& settings);

  // Nothing while the breaker is open, or half open with all its probes out.
  [[nodiscard]] std::optional<Permit> acquire(TimePoint now);
  // How the call went. Answers with the change that it brought about, for metrics and
  // notifications.
  std::optional<BreakerChange> record(Permit permit, CallResult result, TimePoint now);
  // The call was not made after all: a probe may be made in its place.
  void abandon(Permit permit);

  [[nodiscard]] BreakerState state() const { return state_; }
  // When acquire will permit again, while open: the moment to wake up for.
  [[nodiscard]] std::optional<TimePoint> probes_at() const;

 private:
  BreakerChange enter(BreakerState state, TimePoint now);
  std::optional<BreakerChange> record_call(CallResult result, TimePoint now);
  std::optional<BreakerChange> record_probe(CallResult result, TimePoint now);
  [[nodiscard]] bool is_slow(CallResult result) const { return result.took > settings_.slow_call; }

  BreakerSettings settings_;
  BreakerState state_ = BreakerState::kClosed;
  std::uint64_t period_ = 0;
  CallWindow window_;
  TimePoint opened_at_;
  int probes_out_ = 0;  // permitted in this period, answered or not
  int probes_well_ = 0;
  int probes_badly_ = 0;
};

}  // namespace recourse::policy

#include "policy/circuit_breaker.h"

#include <fmt/format.h>

#include <utility>

#include "base/field_checks.h"

namespace recourse::policy {
namespace {

CallWindow make_window(const BreakerSettings& settings) {
  switch (settings.window_type) {
    case WindowType::kCount: return CountWindow(static_cast<std::size_t>(settings.window_calls));
    case WindowType::kTime: return TimeWindow(settings.window_time);
  }
  std::abort();
}

double share(std::int64_t part, std::int64_t all) {
  return static_cast<double>(part) / static_cast<double>(all);
}

}  // namespace

Result<> validate(const BreakerSettings& settings) {
  using namespace std::chrono_literals;
  const bool counted = settings.window_type == WindowType::kCount;
  return FieldChecks("breaker")
      .between("window_calls", settings.window_calls, 1, 10'000)
      .between<Duration>("window_time", settings.window_time, 1s, 1h)
      .between("min_calls", settings.min_calls, 1, 10'000)
      .require(
          !counted || settings.min_calls <= settings.window_calls, "min_calls",
          fmt::format("({}) must not be more than breaker.window_calls ({}), or it never opens",
                      settings.min_calls, settings.window_calls))
      .between("failure_ratio", settings.failure_ratio, 0.01, 1.0)
      .between<Duration>("slow_call", settings.slow_call, 1ms, 24h)
      .between("slow_ratio", settings.slow_ratio, 0.01, 1.0)
      .between<Duration>("open_for", settings.open_for, 1ms, 24h)
      .between("probes", settings.probes, 1, 1'000)
      .result();
}

CircuitBreaker::CircuitBreaker(const BreakerSettings& settings)
    : settings_(checked(settings)), window_(make_window(settings)) {}

std::optional<Permit> CircuitBreaker::acquire(TimePoint now) {
  if (state_ == BreakerState::kClosed) return Permit{period_};
  if (state_ == BreakerState::kOpen) {
    if (now < *probes_at()) return std::nullopt;
    enter(BreakerState::kHalfOpen, now);
  }
  if (probes_out_ == settings_.probes) return std::nullopt;
  ++probes_out_;
  return Permit{period_};
}

std::optional<BreakerChange> CircuitBreaker::record(Permit permit, CallResult result,
                                                    TimePoint now) {
  if (permit.period != period_) return std::nullopt;
  return state_ == BreakerState::kHalfOpen ? record_probe(result, now) : record_call(result, now);
}

void CircuitBreaker::abandon(Permit permit) {
  if (permit.period == period_ && state_ == BreakerState::kHalfOpen) --probes_out_;
}

std::optional<TimePoint> CircuitBreaker::probes_at() const {
  if (state_ != BreakerState::kOpen) return std::nullopt;
  return saturating_add(opened_at_, settings_.open_for);
}

std::optional<BreakerChange> CircuitBreaker::record_call(CallResult result, TimePoint now) {
  const CallCounts call{
      .calls = 1, .failed = result.failed ? 1 : 0, .slow = is_slow(result) ? 1 : 0};
  const CallCounts total = std::visit(
      [&](auto& window) {
        window.add(now, call);
        return window.total(now);
      },
      window_);
  if (total.calls < settings_.min_calls) return std::nullopt;
  if (share(total.failed, total.calls) < settings_.failure_ratio &&
      share(total.slow, total.calls) < settings_.slow_ratio) {
    return std::nullopt;
  }
  return enter(BreakerState::kOpen, now);
}

// Decided as soon as the probes still out cannot change it.
std::optional<BreakerChange> CircuitBreaker::record_probe(CallResult result, TimePoint now) {
  ++(result.failed || is_slow(result) ? probes_badly_ : probes_well_);
  if (share(probes_badly_, settings_.probes) >= settings_.failure_ratio) {
    return enter(BreakerState::kOpen, now);
  }
  const int badly_at_worst = settings_.probes - probes_well_;
  if (share(badly_at_worst, settings_.probes) < settings_.failure_ratio) {
    return enter(BreakerState::kClosed, now);
  }
  return std::nullopt;
}

BreakerChange CircuitBreaker::enter(BreakerState state, TimePoint now) {
  const BreakerChange change{std::exchange(state_, state), state};
  ++period_;
  probes_out_ = probes_well_ = probes_badly_ = 0;
  if (state == BreakerState::kOpen) opened_at_ = now;
  if (state == BreakerState::kClosed) window_ = make_window(settings_);
  return change;
}

}  // namespace recourse::policy

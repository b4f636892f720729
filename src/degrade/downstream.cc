#include "degrade/downstream.h"

#include <utility>

#include "base/field_checks.h"

namespace recourse::degrade {

Result<> validate(const DownstreamSettings& settings) {
  using namespace std::chrono_literals;
  Result<> own = FieldChecks("degrade")
                     .between<Duration>("limit", settings.limit, 1ms, 1h)
                     .between("threads_per_kind", settings.threads, 1, 1'000)
                     .result();
  return own ? policy::validate(settings.breaker) : own;
}

Downstream::Downstream(std::string kind, const DownstreamSettings& settings, const Clock& clock,
                       Log& log)
    : kind_(std::move(kind)),
      settings_(settings),
      time_(clock),
      log_(log),
      health_(settings.breaker),
      calls_(settings.threads) {}

Downstream::Leave Downstream::ask_leave() {
  std::optional<policy::BreakerChange> change;
  Leave leave;
  {
    MutexLock lock(health_.mutex);
    const TimePoint now = time_.now();
    // A probe that hangs says what one that fails would.
    if (health_.probe_out && now > health_.probe_out->second) {
      change = health_.breaker.record(health_.probe_out->first,
                                      {.failed = true, .took = settings_.limit}, now);
      health_.probe_out.reset();
    }
    leave.permit = health_.breaker.acquire(now);
    leave.is_probe = leave.permit && health_.breaker.state() == policy::BreakerState::kHalfOpen;
    if (leave.is_probe) {
      health_.probe_out = {*leave.permit, saturating_add(now, settings_.limit)};
    }
  }
  say(change);
  return leave;
}

void Downstream::tell(policy::Permit permit, bool failed, Duration took) {
  std::optional<policy::BreakerChange> change;
  {
    MutexLock lock(health_.mutex);
    change = health_.breaker.record(permit, {.failed = failed, .took = took}, time_.now());
    if (health_.probe_out && health_.probe_out->first.period == permit.period) {
      health_.probe_out.reset();
    }
  }
  say(change);
}

void Downstream::say(std::optional<policy::BreakerChange> change) {
  if (!change) return;
  if (change->to == policy::BreakerState::kOpen) {
    log_.warning("degrade_breaker_opened", {{"kind", kind_}});
  } else if (change->to == policy::BreakerState::kClosed) {
    log_.info("degrade_breaker_closed", {{"kind", kind_}});
  }
}

Downstream::Answer Downstream::call(const InlineAction& action) {
  const Leave leave = ask_leave();
  if (!leave.permit || leave.is_probe) {
    return {.failure = "not tried: the last calls of " + kind_ + " failed, its breaker is open",
            .was_tried = false,
            .probe = leave.permit};
  }
  InlineOutcome outcome = calls_.run(action, settings_.limit);
  tell(*leave.permit, !outcome.worked(), outcome.took);
  return {.failure = std::move(outcome.failure), .was_tried = true, .probe = std::nullopt};
}

void Downstream::probe(InlineAction action, policy::Permit permit) {
  const bool begun = calls_.run_apart(
      std::move(action), [this, permit, limit = settings_.limit](const InlineOutcome& outcome) {
        tell(permit, !outcome.worked() || outcome.took > limit, outcome.took);
      });
  if (!begun) tell(permit, true, Duration::zero());
}

}  // namespace recourse::degrade

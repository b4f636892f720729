// What one kind's action calls, and whether it is worth calling: a breaker spares callers the time
// limit while the downstream is dead.
//
// Probes hold nobody up: a caller who comes when the breaker looks again is answered as while it is
// open, and its action is tried beside that, in its own time. It may then be done twice, now and by
// the retry, under one id: that is what the id is for.
//
// Thread safety: safe to use from any thread.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "base/clock.h"
#include "base/log.h"
#include "base/mutex.h"
#include "degrade/inline_calls.h"
#include "policy/circuit_breaker.h"

namespace recourse::degrade {

struct DownstreamSettings {
  // Of each call.
  Duration limit = std::chrono::seconds(1);
  int threads = 32;
  policy::BreakerSettings breaker = {
      .window_calls = 10, .min_calls = 5, .open_for = std::chrono::seconds(10), .probes = 1};
};

Result<> validate(const DownstreamSettings& settings);

class Downstream {
 public:
  // The settings must be valid; clock and log must outlive it.
  Downstream(std::string kind, const DownstreamSettings& settings, const Clock& clock, Log& log);

  // What became of a call.
  struct Answer {
    // Empty: it worked. Otherwise why it did not, or was not tried.
    std::string failure;
    // Tried, in vain; false: the breaker spared it.
    bool was_tried = false;
    // To be tried beside the caller, once the failure is recorded.
    std::optional<policy::Permit> probe;
  };
  Answer call(const InlineAction& action);
  void probe(InlineAction action, policy::Permit permit);

 private:
  struct Leave {
    std::optional<policy::Permit> permit;
    bool is_probe = false;
  };
  // The breaker, and until when the probe that is out may be.
  struct Health {
    explicit Health(const policy::BreakerSettings& settings) : breaker(settings) {}
    Mutex mutex;
    policy::CircuitBreaker breaker GUARDED_BY(mutex);
    std::optional<std::pair<policy::Permit, TimePoint>> probe_out GUARDED_BY(mutex);
  };

  Leave ask_leave();
  void tell(policy::Permit permit, bool failed, Duration took);
  void say(std::optional<policy::BreakerChange> change);

  const std::string kind_;
  const DownstreamSettings settings_;
  const SteadyTime time_;
  Log& log_;
  Health health_;
  // Last: what it runs tells the health.
  InlineCalls calls_;
};

}  // namespace recourse::degrade

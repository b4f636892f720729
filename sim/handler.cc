#include "sim/handler.h"

#include <exception>
#include <stdexcept>

namespace recourse::sim {
namespace {

using namespace std::chrono_literals;
using engine::Decided;
using engine::Failed;

engine::AttemptResult thrown(Rng& rng) {
  if (rng.fraction() < 0.7) {
    return Failed{policy::Thrown{std::make_exception_ptr(std::runtime_error("it broke"))}};
  }
  return Failed{policy::Thrown{std::make_exception_ptr(std::logic_error("a bug"))}};
}

policy::Decision sticky_retry() {
  policy::Decision decision = policy::retry(policy::Category::kIo, "AGAIN", "once more, here");
  decision.prefer_sticky = true;
  return decision;
}

policy::Decision snooze(Rng& rng) {
  policy::Decision decision = policy::retry(policy::Category::kBizRetryable, "SNOOZE", "not yet");
  decision.uses_retry = false;
  decision.snooze = rng.between(Duration(1s), Duration(40s));
  decision.prefer_sticky = rng.fraction() < 0.5;
  return decision;
}

policy::Decision ending(policy::Outcome outcome) {
  policy::Decision decision;
  decision.outcome = outcome;
  decision.code = "SAID_SO";
  decision.message = "the handler decided";
  return decision;
}

Duration usual_time(Rng& rng) {
  const double draw = rng.fraction();
  if (draw < 0.8) return rng.between(Duration(2ms), Duration(300ms));
  return rng.between(Duration(300ms), Duration(4s));
}

// What goes wrong beyond a plain failure.
void make_trouble(Script& script, const task::Task& task, Rng& rng) {
  const Duration timeout = task.spec.timeout;
  switch (rng.between(0, 3)) {
    case 0:
      script.fault = Fault::kHandlerHang;
      script.takes = timeout + rng.between(Duration(30s), Duration(120s));
      script.obeys = rng.fraction() < 0.5;
      break;
    case 1:
      script.fault = Fault::kHandlerLate;
      script.takes = timeout + rng.between(Duration(1ms), Duration(15s));
      script.obeys = false;
      break;
    case 2:
      script.fault = Fault::kHandlerLie;
      script.takes = timeout + rng.between(Duration(1ms), Duration(5s));
      script.lies = true;
      break;
    default:
      script.fault = Fault::kHandlerThrow;
      script.result = thrown(rng);
      break;
  }
}

}  // namespace

Script draw_script(const task::Task& task, const Plan& plan, bool quiet, Rng& rng) {
  Script script;
  script.takes = usual_time(rng);
  if (task.spec.kind.value == kCalmKind) {
    script.takes = rng.between(Duration(1ms), Duration(20ms));
    return script;
  }
  if (task.spec.payload == kPoison) {
    script.kills = !quiet;
    script.fault = Fault::kHandlerKills;
    return script;
  }
  const double draw = rng.fraction();
  const double bad = 0.1 + 0.25 * plan.handler_trouble;
  if (draw > bad) return script;
  const double which = rng.fraction();
  if (!quiet && which < 0.25) {
    make_trouble(script, task, rng);
  } else if (which < 0.55) {
    script.result = Failed{policy::Declined{"not now"}};
  } else if (which < 0.75) {
    script.result = Decided{sticky_retry()};
  } else if (!quiet && which < 0.80) {
    script.result = Decided{snooze(rng)};
  } else if (!quiet && which < 0.83) {
    script.result = engine::HandedOver{.to = task::WorkerName("called"), .lease_for = 15s};
  } else if (which < 0.88) {
    script.result = Decided{ending(policy::Outcome::kFailed)};
  } else if (which < 0.92) {
    script.result = Decided{ending(policy::Outcome::kPaused)};
  } else if (which < 0.96) {
    script.result = Decided{ending(policy::Outcome::kCancelled)};
  } else {
    script.result = Decided{ending(policy::Outcome::kDeadLetter)};
  }
  return script;
}

}  // namespace recourse::sim

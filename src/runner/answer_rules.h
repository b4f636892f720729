// What an HTTP answer, or the lack of one, means for the attempt. Pure: values in, values out.
#pragma once

#include <optional>
#include <variant>

#include "base/time.h"
#include "engine/core/event.h"
#include "http/client.h"
#include "policy/decision.h"

namespace recourse::runner {

// 202: it goes on elsewhere, and is reported on by its ticket.
struct AnswersLater {
  // For how long it may, as the answer's Recourse-Lease asks: seconds, or a duration such as 10m.
  std::optional<Duration> lease;
};

using Judgement = std::variant<engine::AttemptResult, AnswersLater>;

// The header Recourse-Outcome decides: done, retry, snooze (Retry-After says how long, for both),
// dead, failed, cancelled. Without it the status does: 2xx is done, but for 202; the kind's router
// judges the others. A body is quoted in the reason, cut and on one line.
Judgement judge_answer(const http::CallResult& result, Duration limit, TimePoint now);

// Stopped by the node or by a person, before there was an answer: it may have happened.
policy::Decision stopped_before_its_end();

struct IsDone {};
struct IsNotDone {};
// It cannot be told: tried again later, and asked again first.
struct IsUnknown {
  policy::Decision decision;
};
using ProbeAnswer = std::variant<IsDone, IsNotDone, IsUnknown>;

// 200 is done; 404, 409 and 410 are not done; everything else tells nothing. (204 and 202 too: who
// answers those to everything would lose work.)
ProbeAnswer judge_probe(const http::CallResult& result, TimePoint now);

}  // namespace recourse::runner

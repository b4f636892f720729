// What an attempt looks like on the wire, whatever carries it.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/time.h"
#include "engine/attempt_run.h"
#include "http/message.h"
#include "http/webhook_signature.h"

namespace recourse::runner {

// The ticket under which somebody outside reports on this attempt.
std::string ticket_of(const engine::AttemptRun& run);

// Names that no task and no setting may give a header: how the request is framed and where it goes
// is the transport's, who sends it is ours.
bool is_reserved(std::string_view header);

struct OutgoingHeaders {
  // From the kind's settings: they win over the task's.
  const http::Headers& fixed;
  const std::vector<http::WebhookKey>& keys;
};

// Recourse-Task, -Kind, -Attempt, -Fence, -Ticket, Idempotency-Key (the same for every attempt of
// a task), traceparent, the signature of `body`, and what the task and the settings bring.
http::Headers outgoing_headers(const engine::AttemptRun& run, const OutgoingHeaders& with,
                               std::string_view body, TimePoint now);

// RECOURSE_TASK, _KIND, _ATTEMPT, _FENCE, _TICKET and TRACEPARENT.
std::vector<std::pair<std::string, std::string>> outgoing_environment(
    const engine::AttemptRun& run);

}  // namespace recourse::runner

// What becomes of messages, as log lines: one for each step that people follow (MSG-13). Never the
// body.
#pragma once

#include <string>

#include "base/log.h"
#include "base/result.h"
#include "engine/attempt_run.h"
#include "engine/core/happening.h"
#include "message/envelope.h"
#include "message/message.h"
#include "task/transition.h"

namespace recourse::message {

// The handler failed, and that is on the record.
void log_consume_failed(Log& log, const Message& message, const std::string& group,
                        const task::Transition& change);
// It failed, and cannot be recorded: the broker keeps it.
void log_not_recorded(Log& log, const Message& message, const std::string& group,
                      const Error& error);
// Another process was as fast.
void log_handled_twice(Log& log, const Message& message, const std::string& group);
// Its id is a hash of its body: two equal ones are one message.
void log_without_id(Log& log, const Message& message, const std::string& group);

void log_retry_started(Log& log, const engine::AttemptRun& run, const Envelope& envelope);
// A retry succeeded, failed, or was the last one. Of tasks of message kinds.
void log_moved(Log& log, const engine::Moved& moved);

}  // namespace recourse::message

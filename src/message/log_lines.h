// What becomes of messages, as log lines: one for each step that people follow (MSG-13), with the
// message's id, its source, group and topic as they stand under its search keys. Never the body.
#pragma once

#include <string>

#include "base/log.h"
#include "base/result.h"
#include "engine/attempt_run.h"
#include "engine/core/happening.h"
#include "message/message.h"
#include "task/record.h"

namespace recourse::message {

// A consumer ran it before there was a task; it failed, and that is on the record.
void log_consume_failed(Log& log, const engine::Moved& moved);
// It failed, and cannot be recorded: the broker keeps it.
void log_not_recorded(Log& log, const Message& message, const std::string& group,
                      const Error& error);
// The same where nobody has run it.
void log_refused(Log& log, const Message& message, const std::string& group, const Error& error);
// Another process was as fast.
void log_handled_twice(Log& log, const Message& message, const std::string& group);
// Its id is a hash of its body: two equal ones are one message.
void log_without_id(Log& log, const Message& message, const std::string& group);

// It was published instead of being run.
void log_replayed(Log& log, const task::Task& task);
// The handler, with a line before each retry. The log must outlive it.
engine::Handler announcing(engine::Handler handler, Log& log);
// A run has ended: the first one, a retry, or the last of all. Of tasks of message kinds.
void log_moved(Log& log, const engine::Moved& moved);

}  // namespace recourse::message

// What becomes of failures, as log lines: one for each step that people follow. Never the payload.
#pragma once

#include <string>

#include "base/log.h"
#include "degrade/failure.h"
#include "degrade/recorder.h"
#include "engine/core/happening.h"
#include "engine/handler_table.h"

namespace recourse::degrade {

// A side effect failed, or was spared; it is on the record.
void log_failure(Log& log, task::TaskId id, const Failure& failure, bool was_tried, Where where);
// A retry succeeded, failed, or was the last one. Of tasks of degrade kinds.
void log_moved(Log& log, const engine::Moved& moved);
// The handler, with a line before each call. The log must outlive it.
engine::Handler announcing_retries(engine::Handler handler, Log& log);

}  // namespace recourse::degrade

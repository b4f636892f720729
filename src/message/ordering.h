// Order within a key: a message waits while an older one of its key is unfinished. The first
// attempt of messages is in order anyway; this keeps those behind one that failed from overtaking
// it.
//
// Off by default: a key whose head waits for a person stands still until somebody has dealt with
// it, unless dead heads are skipped. Waiting uses no retry.
#pragma once

#include <optional>
#include <string>

#include "base/result.h"
#include "base/time.h"
#include "engine/attempt_run.h"
#include "message/order_watch.h"
#include "store/reader.h"
#include "task/ids.h"

namespace recourse::message {

struct OrderSettings {
  // A head that waits for a person is overtaken.
  bool skips_dead_heads = false;
  // Before it looks again: grows from the one to the other with the time that it has waited. Each
  // look that finds that it has to wait is a write; the watch makes the wait short all the same.
  Duration pause_min = std::chrono::milliseconds(250);
  Duration pause_max = std::chrono::seconds(60);
};

Result<> validate(const OrderSettings& settings);

// How long to wait before the next look. Pure.
Duration order_pause(Duration waited, const OrderSettings& settings);

// The newest of the key that is unfinished and was recorded before the task, or at all; empty where
// there is none. Of the tenant alone, where one is given: nobody holds up another's messages.
Result<std::optional<task::TaskId>> find_older(
    store::Reader& reader, const task::Kind& kind, const std::string& order_key,
    std::optional<task::TaskId> before, const OrderSettings& settings, Duration within,
    const std::optional<task::Tenant>& tenant = std::nullopt);

// Runs the handler where no older message of the task's key is unfinished, and puts it off
// otherwise, until its pause is over or the watch, where there is one, wakes it. Messages without a
// key are not looked at. The reader and the watch must outlive it.
engine::Handler keep_order(engine::Handler handler, store::Reader& reader,
                           OrderSettings settings = {}, OrderWatch* watch = nullptr);

}  // namespace recourse::message

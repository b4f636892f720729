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
#include "store/reader.h"
#include "task/ids.h"

namespace recourse::message {

struct OrderSettings {
  // A head that waits for a person is overtaken.
  bool skips_dead_heads = false;
  // Before it looks again: grows from the one to the other with the time that it has waited.
  Duration pause_min = std::chrono::milliseconds(250);
  Duration pause_max = std::chrono::seconds(2);
};

Result<> validate(const OrderSettings& settings);

// How long to wait before the next look. Pure.
Duration order_pause(Duration waited, const OrderSettings& settings);

// Whether something of the key is unfinished that was recorded before the task, or at all. Of the
// tenant alone, where one is given: nobody holds up another's messages.
Result<bool> has_older(store::Reader& reader, const task::Kind& kind, const std::string& order_key,
                       std::optional<task::TaskId> before, const OrderSettings& settings,
                       Duration within, const std::optional<task::Tenant>& tenant = std::nullopt);

// Runs the handler where no older message of the task's key is unfinished, and puts it off
// otherwise. Messages without a key are not looked at. The reader must outlive it.
engine::Handler keep_order(engine::Handler handler, store::Reader& reader,
                           OrderSettings settings = {});

}  // namespace recourse::message

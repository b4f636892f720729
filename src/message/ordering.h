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
  // Before the next in line looks again: grows from the one to the other with the time that it has
  // waited.
  Duration pause_min = std::chrono::milliseconds(250);
  Duration pause_max = std::chrono::seconds(2);
};

// Whoever stands further back looks more seldom, so that a long line behind a head that waits for a
// person costs little: so many before it are counted, and so long it waits at most.
inline constexpr std::size_t kAheadMax = 30;
inline constexpr Duration kOrderPauseMax = std::chrono::seconds(60);

Result<> validate(const OrderSettings& settings);

// How long to wait before the next look, with so many ahead. Pure.
Duration order_pause(Duration waited, std::size_t ahead, const OrderSettings& settings);

// How many of the key are unfinished that were recorded before the task, or at all, counted up to
// `most`. Of the tenant alone, where one is given: nobody holds up another's messages.
Result<std::size_t> count_older(store::Reader& reader, const task::Kind& kind,
                                const std::string& order_key, std::optional<task::TaskId> before,
                                const OrderSettings& settings, std::size_t most, Duration within,
                                const std::optional<task::Tenant>& tenant = std::nullopt);

// Runs the handler where no older message of the task's key is unfinished, and puts it off
// otherwise. Messages without a key are not looked at. The reader must outlive it.
engine::Handler keep_order(engine::Handler handler, store::Reader& reader,
                           OrderSettings settings = {});

}  // namespace recourse::message

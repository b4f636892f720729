// "Why is it not running?", as a rule over what is known.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "engine/core/core.h"
#include "store/history.h"
#include "store/node.h"
#include "task/record.h"

namespace recourse::api {

struct Facts {
  TimePoint now;  // the store's
  const engine::Core::Status& node;
  const std::vector<store::NodeRow>& nodes;
  const store::Pauses& pauses;
  // Who paused the task, where that is known.
  std::optional<store::AuditEntry> paused_by = std::nullopt;
  // Leased by programs outside, as far as this node knows.
  bool is_outside = false;
};

struct Explanation {
  // A fixed word: finished, needs_person, paused, kind_paused, owned, owner_dead, leased,
  // lease_over, request_waiting, not_due, no_handler, other_shard, breaker_open, rate_limited,
  // behind_others, nobody_leases, about_to_run
  std::string code;
  std::string text;
  // When that is likely to change by itself.
  std::optional<TimePoint> until;
};

// Whether a live node runs it, or lets others lease it.
bool is_handled(const task::Kind& kind, const std::vector<store::NodeRow>& nodes);

Explanation explain(const task::Task& task, const Facts& facts);

}  // namespace recourse::api

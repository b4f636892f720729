#include "api/explain.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/duration_text.h"
#include "base/rfc3339.h"
#include "engine/core/rules.h"

namespace recourse::api {
namespace {

using task::State;
using task::Task;

// A node knows the store's time from below only: what is due within a moment may well be due.
constexpr Duration kMoment = std::chrono::milliseconds(500);

bool is_early(const Task& task, const Facts& facts) { return task.due_at > facts.now + kMoment; }

std::string seconds_until(TimePoint time, TimePoint now) {
  const auto wait = std::chrono::ceil<std::chrono::seconds>(time - now);
  return format_duration(std::max(wait, std::chrono::seconds(0)));
}

const store::NodeRow* owner_node(const Task& task, const Facts& facts) {
  const auto* incarnation = std::get_if<task::Incarnation>(&*task.owner);
  if (incarnation == nullptr) return nullptr;
  const auto found = std::ranges::find_if(facts.nodes, [&](const store::NodeRow& node) {
    return node.info.incarnation == *incarnation;
  });
  return found == facts.nodes.end() ? nullptr : &*found;
}

Explanation explain_running(const Task& task, const Facts& facts) {
  const std::string owner = task.owner ? task::to_string(*task.owner) : "somebody";
  if (task.requested) {
    return {"request_waiting",
            fmt::format("{} was asked for; {} has it and carries that out with its next write",
                        to_string(*task.requested), owner),
            std::nullopt};
  }
  if (task.lease_end) {
    return {"leased",
            fmt::format("{} has leased it for another {}; then it is free again", owner,
                        seconds_until(*task.lease_end, facts.now)),
            task.lease_end};
  }
  const store::NodeRow* node = task.owner ? owner_node(task, facts) : nullptr;
  if (node == nullptr || node->dead) {
    return {"owner_dead",
            fmt::format("{} had it and is dead; a live node frees it within moments", owner),
            std::nullopt};
  }
  if (is_early(task, facts)) {
    return {"not_due",
            fmt::format("{} (node {}) holds it for its next attempt in {}", owner, node->info.name,
                        seconds_until(task.due_at, facts.now)),
            task.due_at};
  }
  return {"owned", fmt::format("{} (node {}) has it and runs it", owner, node->info.name),
          std::nullopt};
}

bool is_handled(const Task& task, const Facts& facts) {
  return std::ranges::any_of(facts.nodes, [&](const store::NodeRow& node) {
    return !node.dead && std::ranges::any_of(node.info.kinds, [&](const task::Kind& kind) {
      return engine::fits(kind.value, task.spec.kind.value);
    });
  });
}

Explanation explain_due(const Task& task, const Facts& facts) {
  const std::string& kind = task.spec.kind.value;
  if (!is_handled(task, facts)) {
    return {"no_handler",
            fmt::format("no live node knows the kind {}; declare it in the configuration. After 10 "
                        "minutes without one, its tasks go to the dead letters",
                        kind),
            std::nullopt};
  }
  if (facts.is_outside) {
    return {"nobody_leases",
            fmt::format("it is due, and waits for a worker to lease tasks of kind {}", kind),
            std::nullopt};
  }
  const auto& lanes = facts.node.lanes;
  const auto lane = std::ranges::find(lanes, task.spec.kind, &engine::Core::LaneStatus::kind);
  if (lane != lanes.end() && lane->breaker == policy::BreakerState::kOpen) {
    return {"breaker_open",
            fmt::format("the breaker of kind {} is open on this node, because its calls failed; "
                        "it lets some through by itself soon",
                        kind),
            std::nullopt};
  }
  if (lane != lanes.end() && lane->queued > 0) {
    return {"behind_others",
            fmt::format("{} tasks of kind {} run on this node and {} wait before it", lane->running,
                        kind, lane->queued),
            std::nullopt};
  }
  return {"about_to_run", "it is due, and is taken with the next claim", std::nullopt};
}

Explanation explain_pending(const Task& task, const Facts& facts) {
  if (std::ranges::count(facts.pauses.kinds, task.spec.kind) > 0) {
    return {
        "kind_paused",
        fmt::format("the kind {} is paused; resume it to let its tasks run", task.spec.kind.value),
        std::nullopt};
  }
  if (is_early(task, facts)) {
    return {"not_due",
            fmt::format("{} in {}",
                        task.attempts > 0 ? "its next attempt is due" : "it is due to start",
                        seconds_until(task.due_at, facts.now)),
            task.due_at};
  }
  return explain_due(task, facts);
}

Explanation explain_paused(const Facts& facts) {
  if (!facts.paused_by) {
    return {"paused", "somebody paused it; resume it to let it run", std::nullopt};
  }
  const store::AuditEntry& by = *facts.paused_by;
  const std::string reason = by.detail.empty() ? "" : fmt::format(" ({})", by.detail);
  return {"paused",
          fmt::format("{} paused it at {}{}; resume it to let it run", by.actor,
                      format_rfc3339(by.at), reason),
          std::nullopt};
}

}  // namespace

Explanation explain(const Task& task, const Facts& facts) {
  switch (task.state) {
    case State::kPending: return explain_pending(task, facts);
    case State::kRunning: return explain_running(task, facts);
    case State::kPaused: return explain_paused(facts);
    case State::kDead:
    case State::kFailed:
      return {"needs_person",
              fmt::format("it ended badly ({}) and waits for a person: retry, resolve or ignore it",
                          task.last_error ? task.last_error->code : "no reason given"),
              std::nullopt};
    case State::kSucceeded:
    case State::kCancelled:
    case State::kResolved:
    case State::kIgnored:
      return {"finished", fmt::format("it is {}; nothing more happens", to_string(task.state)),
              std::nullopt};
  }
  std::abort();
}

}  // namespace recourse::api

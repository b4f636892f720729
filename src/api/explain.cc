#include "api/explain.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/duration_text.h"
#include "base/rfc3339.h"
#include "base/text.h"
#include "engine/core/rules.h"
#include "store/shard.h"

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

const engine::Core::LaneStatus* lane_of(const Task& task, const Facts& facts) {
  const auto& lanes = facts.node.lanes;
  const auto lane = std::ranges::find(lanes, task.spec.kind, &engine::Core::LaneStatus::kind);
  return lane == lanes.end() ? nullptr : &*lane;
}

// What its owner does with it, as far as this node can tell.
std::string doing_with(const Task& task, const Facts& facts) {
  const auto* lane = lane_of(task, facts);
  const bool is_here = *task.owner == task::Owner(facts.node.node);
  if (!is_here || lane == nullptr || lane->queued == 0) return "runs it";
  return fmt::format("runs it or is about to: {} of its kind run there, {} wait for their turn",
                     lane->running, lane->queued);
}

Explanation explain_running(const Task& task, const Facts& facts) {
  const std::string owner = task.owner ? task::to_string(*task.owner) : "somebody";
  if (task.requested) {
    return {"request_waiting",
            fmt::format("{} was asked for; {} has it and carries that out with its next write",
                        to_string(*task.requested), owner),
            std::nullopt};
  }
  if (task.lease_end && *task.lease_end <= facts.now) {
    return {"lease_over",
            fmt::format("{} had leased it and did not come back in time; the next claim of a node "
                        "or a worker frees it",
                        owner),
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
  return {
      "owned",
      fmt::format("{} (node {}) has it and {}", owner, node->info.name, doing_with(task, facts)),
      std::nullopt};
}

// Live nodes that know its kind: all, or those beside this one.
enum class Whose : std::uint8_t { kAny, kOthers };

bool knows(const store::NodeRow& node, const task::Kind& kind) {
  return !node.dead && std::ranges::any_of(node.info.kinds, [&](const task::Kind& name) {
    return engine::fits(name.value, kind.value);
  });
}

bool has_handler(const Task& task, const Facts& facts, Whose whose) {
  return std::ranges::any_of(facts.nodes, [&](const store::NodeRow& node) {
    if (whose == Whose::kOthers && node.info.incarnation == facts.node.node) return false;
    return knows(node, task.spec.kind);
  });
}

// What this node's lane of the kind has against it, if anything.
std::optional<Explanation> explain_lane(const Task& task, const Facts& facts) {
  const std::string& kind = task.spec.kind.value;
  const auto* lane = lane_of(task, facts);
  if (lane == nullptr) return std::nullopt;
  const auto in_store_time = [&](TimePoint time) { return time + facts.node.store_ahead; };
  if (lane->breaker == policy::BreakerState::kOpen && lane->probes_at) {
    const TimePoint until = in_store_time(*lane->probes_at);
    return Explanation{"breaker_open",
                       fmt::format("the breaker of kind {} is open on this node, because its calls "
                                   "failed; it lets some through in {}",
                                   kind, seconds_until(until, facts.now)),
                       until};
  }
  if (lane->rate_allows_at) {
    const TimePoint until = in_store_time(*lane->rate_allows_at);
    return Explanation{"rate_limited",
                       fmt::format("the rate of kind {} is used up on this node; {} wait before "
                                   "it, the next of them starts in {}",
                                   kind, lane->queued, seconds_until(until, facts.now)),
                       until};
  }
  if (lane->queued == 0) return std::nullopt;
  return Explanation{"behind_others",
                     fmt::format("this node has {} of kind {} running, and {} waiting before it",
                                 counted(lane->running, "task"), kind, lane->queued),
                     std::nullopt};
}

std::optional<Explanation> explain_shard(const Task& task, const Facts& facts) {
  const int shard = store::shard_of(task.spec.shard_key);
  const store::ShardRange& own = facts.node.shards;
  if (own.has(shard)) return std::nullopt;
  const bool has_others = has_handler(task, facts, Whose::kOthers);
  return Explanation{
      "other_shard",
      fmt::format("it is in shard {}, and this node runs {} to {}; {}", shard, own.first, own.last,
                  has_others ? "another node takes it, where one runs that shard"
                             : "no other node is live: start one that runs that shard"),
      std::nullopt};
}

Explanation explain_due(const Task& task, const Facts& facts) {
  const std::string& kind = task.spec.kind.value;
  if (!has_handler(task, facts, Whose::kAny)) {
    return {"no_handler",
            fmt::format("no live node knows the kind {}; declare it in the configuration. After {} "
                        "without one, its tasks go to the dead letters",
                        kind, format_duration(facts.node.no_handler_after)),
            std::nullopt};
  }
  if (facts.is_outside) {
    return {"nobody_leases",
            fmt::format("it is due, and waits for a worker to lease tasks of kind {}", kind),
            std::nullopt};
  }
  if (auto shard = explain_shard(task, facts)) return *std::move(shard);
  if (auto lane = explain_lane(task, facts)) return *std::move(lane);
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

bool is_handled(const task::Kind& kind, const std::vector<store::NodeRow>& nodes) {
  return std::ranges::any_of(nodes, [&](const store::NodeRow& node) { return knows(node, kind); });
}

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
    case State::kIgnored: return {"finished", "nothing more happens to it", std::nullopt};
  }
  std::abort();
}

}  // namespace recourse::api

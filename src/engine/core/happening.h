// What is worth a metric, a log line or a message to a person. The core tells it and goes on.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include "base/time.h"
#include "policy/batch_controller.h"
#include "policy/circuit_breaker.h"
#include "policy/decision.h"
#include "policy/strategy.h"
#include "task/ids.h"
#include "task/record.h"
#include "task/state.h"

namespace recourse::engine {

// An outcome is in the store.
struct Moved {
  task::TaskId task;
  task::Kind kind;
  task::Tenant tenant;
  task::Move move;
  task::State to;
  int retries = 0;
  int max_retries = 0;
  task::Fence fence;
  std::optional<policy::Category> category;
  std::optional<policy::Escalation> escalation;
  std::optional<task::Reason> error;
  // Of the attempt; empty where nothing was run.
  std::optional<Duration> took;
  // As it stood before, for whoever tells more of it.
  std::shared_ptr<const task::Task> was = nullptr;
};

struct BreakerChanged {
  task::Kind kind;
  policy::BreakerChange change;
};

struct BatchChanged {
  policy::BatchChange change;
};

enum class NodeEvent : std::uint8_t {
  kJoined,
  kJoinFailed,
  kHeartbeatFailed,
  kFenced,       // no heartbeat has succeeded for too long: starts nothing
  kUnfenced,     // one has, in time
  kDeclared,     // others took this node for dead: it begins again
  kPeerDead,     // this node declared another one dead
  kAdopted,      // `count` tasks of the dead are free again
  kRefused,      // an outcome came too late: somebody else has the task
  kDropped,      // held here, but not in the store's list: not run
  kReconciled,   // in the store's list, but not held here: released
  kStoreFailed,  // a call failed; it will be repeated where that makes sense
  kMissed,       // a schedule's occurrence came while no node lived: not run
  kUnsubmitted,  // a schedule's occurrence that the store cannot take
  kWriteGivenUp  // an outcome that the store cannot take, whatever is left out of it
};

constexpr std::string_view to_string(NodeEvent event) {
  switch (event) {
    case NodeEvent::kJoined: return "node_joined";
    case NodeEvent::kJoinFailed: return "node_join_failed";
    case NodeEvent::kHeartbeatFailed: return "heartbeat_failed";
    case NodeEvent::kFenced: return "node_fenced";
    case NodeEvent::kUnfenced: return "node_unfenced";
    case NodeEvent::kDeclared: return "node_declared_dead";
    case NodeEvent::kPeerDead: return "peer_declared_dead";
    case NodeEvent::kAdopted: return "tasks_adopted";
    case NodeEvent::kRefused: return "write_refused";
    case NodeEvent::kDropped: return "task_dropped";
    case NodeEvent::kReconciled: return "task_reconciled";
    case NodeEvent::kStoreFailed: return "store_failed";
    case NodeEvent::kMissed: return "occurrence_missed";
    case NodeEvent::kUnsubmitted: return "occurrence_refused";
    case NodeEvent::kWriteGivenUp: return "write_given_up";
  }
  std::abort();
}

struct NodeHappened {
  NodeEvent event;
  std::string detail;
  int count = 1;
};

using Happening = std::variant<Moved, BreakerChanged, BatchChanged, NodeHappened>;

}  // namespace recourse::engine

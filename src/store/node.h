// The life of nodes: one row and one heartbeat per process start.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/time.h"
#include "task/ids.h"
#include "task/state.h"

namespace recourse::store {

struct NodeInfo {
  task::Incarnation incarnation;
  // For people: host and process, or a name from the configuration.
  std::string name;
  // What this node can run.
  std::vector<task::Kind> kinds;
};

// Kinds that people have paused, as one numbered list: a node confirms the number it acts by, and
// a pause is done once every live node has confirmed it.
struct Pauses {
  std::int64_t version = 0;
  std::vector<task::Kind> kinds;

  friend bool operator==(const Pauses&, const Pauses&) = default;
};

struct Joined {
  TimePoint now;  // the store's
  // Read after the node's own row was committed, so that no pause is missed by both sides.
  Pauses pauses;
};

struct ControlRequest {
  task::TaskId task;
  task::Move move;

  friend bool operator==(const ControlRequest&, const ControlRequest&) = default;
};

struct Pulse {
  TimePoint now;  // the store's
  Pauses pauses;
  // What people want done with tasks this node holds.
  std::vector<ControlRequest> requests;
};

struct NodeRow {
  NodeInfo info;
  TimePoint started_at;
  std::int64_t beat = 0;
  TimePoint beat_at;
  bool dead = false;
  std::int64_t pauses_seen = 0;
};

struct Adopted {
  // Orphans freed, ended or handled by request in this call.
  std::size_t tasks = 0;
  // The call ended at its bound: call again.
  bool more = false;
};

}  // namespace recourse::store

// What the core keeps of each thing that is under way: attempts, calls, outcomes that wait, a stop.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/time.h"
#include "engine/core/command.h"
#include "engine/core/event.h"
#include "engine/core/held_task.h"
#include "policy/circuit_breaker.h"
#include "policy/decision.h"
#include "policy/strategy.h"
#include "store/work.h"
#include "task/ids.h"

namespace recourse::engine {

class Lane;

// A place in a lane and a thread of the executor, for attempts that run in turn.
struct Place {
  Lane& lane;
  int attempts = 0;
};
struct RunningAttempt final : CoreTimer {
  RunningAttempt() : CoreTimer(What::kTimeout) {}

  AttemptId id;
  task::TaskId task;
  task::Fence fence;
  std::shared_ptr<Place> place;
  TimePoint started_at;
  Duration timeout{};
  std::optional<policy::Permit> permit;
  bool begun = false;    // the handler is known to have been called
  bool decided = false;  // its time was up, or the node's: what still comes of it is discarded
  bool told_to_stop = false;
  bool unwanted = false;  // where it comes back without having begun, it goes back to the store
  int notes = 0;          // said so far
};
struct ToBegin {
  TimePoint by;
  AttemptId attempt;
};
struct InsertCall {
  std::vector<SubmitId> submits;
  task::LeaseId lease;
  task::Incarnation owner;
  TimePoint sent_at;
  bool again = false;
};
struct ClaimCall {
  CallId call;
  task::LeaseId lease;
  task::Incarnation owner;
  int limit = 0;
  std::map<task::Kind, int> asked;
};
// What an outcome says beside its transition.
struct News {
  std::optional<policy::Category> category;
  std::optional<policy::Escalation> escalation;
  std::optional<Duration> took;
};
struct Stopping {
  TimePoint limit_at;
  TimePoint flush_by = kNever;
  bool leaving = false;
  bool said = false;
  Stopped totals;
};
struct Reconciling {
  bool out = false;
  std::uint64_t changes_before = 0;  // what changed later cannot be compared
};

// A task whose own outcome waits until the store has what follows from it.
struct Following {
  store::Outcome outcome;
  News news;
  std::vector<store::Submission> missing;
  std::size_t bytes = 0;  // of all of them, counted as held
  std::size_t out = 0;    // answers to come
  TimePoint again_at = TimePoint::min();
  std::optional<std::string> wrong = std::nullopt;
};
// One on its way.
struct FollowUp {
  task::TaskId parent;
  task::Ticket ticket;
  task::TaskId task;
};

}  // namespace recourse::engine

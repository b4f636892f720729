// What the world writes down about one run, from the outside: the checkers know nothing else. A
// fact is an observation (this row was so before the call and so after it; this handler began now),
// never a conclusion of the product's.
//
// Thread safety: none; each world has its own.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/time.h"
#include "store/memory/data.h"
#include "store/work.h"
#include "task/ids.h"
#include "task/record.h"

namespace recourse::sim {

enum class Verb : std::uint8_t {
  kInsert,
  kClaim,
  kApply,
  kStarts,
  kRenew,
  kJoin,
  kHeartbeat,
  kDeclare,
  kAdopt,
  kControl,
  kPauseKind,
  kPurge,
  kNote,
  kCases,
};

std::string_view to_string(Verb verb);

// One row, as one committed transaction found it and left it.
struct RowChange {
  TimePoint at;
  Verb verb;
  task::TaskId id;
  // Of the hot table.
  std::optional<task::Task> before;
  std::optional<task::Task> after;
  // In the archive afterwards.
  const task::Task* archived = nullptr;
  // What an owner showed, where the verb is apply and named this row.
  const task::Transition* shown = nullptr;
  // What a person ordered, where the verb is control.
  std::optional<task::Move> ordered;

  // The row after the call, wherever it is.
  [[nodiscard]] const task::Task* now() const { return after ? &*after : archived; }
};

// One call of a handler.
struct HandlerRun {
  task::TaskId task;
  task::Ticket ticket;
  task::Owner owner;
  int node = -1;
  TimePoint started_at;
  std::optional<TimePoint> ended_at{};
  // Its node decided that its time was up.
  bool timed_out = false;
  // Its worker's lease, where it has one.
  std::optional<TimePoint> lease_end{};
};

struct Submitted {
  task::TaskId id;
  task::Account account;
  bool acknowledged = false;
};

// What the world knows about one process, to judge deaths and stops by.
struct ProcessFacts {
  int node = -1;
  TimePoint born;
  // The last time anything kept it from the store: a partition, an outage, a pause, a failed call.
  TimePoint troubled_at = TimePoint::min();
  // The last time its heartbeat or join failed, or it had none.
  TimePoint unhealthy_at = TimePoint::min();
  bool stopping = false;
  bool gone = false;
};

struct Violation {
  std::string invariant;
  std::string what;
  task::TaskId task;
  TimePoint at;
};

// What a handler says at its end, where it says anything.
inline constexpr const char* kLastWords = "the end";

struct Ledger {
  std::unordered_map<task::TaskId, Submitted> submits;
  std::unordered_map<task::TaskId, std::vector<HandlerRun>> handlers;
  std::set<task::TaskId> purged;
  std::map<task::Incarnation, ProcessFacts> processes;
  std::size_t inserted = 0;
  std::optional<Violation> violation;
  // Runs that said something at their end.
  std::set<std::pair<task::TaskId, task::Ticket>> last_words;
  // Runs whose answer brought tasks with it.
  std::set<std::pair<task::TaskId, task::Ticket>> brought_follow_ups;

  // The first one counts: what follows may follow from it.
  void broken(std::string_view invariant, std::string what, const task::TaskId& task,
              TimePoint at) {
    if (violation) return;
    violation = Violation{
        .invariant = std::string(invariant), .what = std::move(what), .task = task, .at = at};
  }

  [[nodiscard]] const HandlerRun* handler_of(const task::TaskId& task, task::Fence fence) const {
    const auto runs = handlers.find(task);
    if (runs == handlers.end()) return nullptr;
    for (const HandlerRun& run : runs->second) {
      if (run.ticket.fence == fence) return &run;
    }
    return nullptr;
  }
};

}  // namespace recourse::sim

// How much of what can happen did happen: faults by kind, edges of the state table, and a few
// totals. Added up over all seeds of a run.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "task/state.h"

namespace recourse::sim {

enum class Fault : std::uint8_t {
  kCrash,         // a process is gone with all it knew; another one starts later
  kStop,          // a process leaves in order
  kPause,         // a process does nothing for a while, and then goes on as if nothing had been
  kPartition,     // one node cannot reach the store
  kOutage,        // nobody can
  kSlowStore,     // calls take seconds
  kLostCall,      // a call does not arrive, and is sent again
  kLostReply,     // a call is committed, and its caller is not told
  kLateCommit,    // a caller is told "in doubt", and only then is it committed
  kGhostCommit,   // a call of a process that is gone by then is committed
  kWallJump,      // a machine's wall clock is set; steady time must not care
  kDrift,         // a machine's steady time runs faster or slower than the store's
  kHandlerHang,   // a handler does not return in time, if at all
  kHandlerLate,   // a handler returns after its time was up
  kHandlerLie,    // a handler that was told to stop says that it has succeeded
  kHandlerThrow,  // a handler throws
  kHandlerKills,  // a handler takes its process with it
  kWorkerLost,    // a worker outside lets its lease end
  kTellerLost,    // who tells people forgets what it holds
};

inline constexpr std::array kAllFaults{
    Fault::kCrash,        Fault::kStop,        Fault::kPause,      Fault::kPartition,
    Fault::kOutage,       Fault::kSlowStore,   Fault::kLostCall,   Fault::kLostReply,
    Fault::kLateCommit,   Fault::kGhostCommit, Fault::kWallJump,   Fault::kDrift,
    Fault::kHandlerHang,  Fault::kHandlerLate, Fault::kHandlerLie, Fault::kHandlerThrow,
    Fault::kHandlerKills, Fault::kWorkerLost,  Fault::kTellerLost};

constexpr std::string_view to_string(Fault fault) {
  switch (fault) {
    case Fault::kCrash: return "crash";
    case Fault::kStop: return "stop";
    case Fault::kPause: return "pause";
    case Fault::kPartition: return "partition";
    case Fault::kOutage: return "outage";
    case Fault::kSlowStore: return "slow store";
    case Fault::kLostCall: return "lost call";
    case Fault::kLostReply: return "lost reply";
    case Fault::kLateCommit: return "late commit";
    case Fault::kGhostCommit: return "commit of a dead process";
    case Fault::kWallJump: return "wall clock jump";
    case Fault::kDrift: return "clock drift";
    case Fault::kHandlerHang: return "handler hangs";
    case Fault::kHandlerLate: return "handler late";
    case Fault::kHandlerLie: return "handler lies";
    case Fault::kHandlerThrow: return "handler throws";
    case Fault::kHandlerKills: return "handler kills its process";
    case Fault::kWorkerLost: return "worker lost";
    case Fault::kTellerLost: return "teller lost";
  }
  std::abort();
}

struct Coverage {
  std::array<std::uint64_t, kAllFaults.size()> faults{};
  std::array<std::uint64_t, task::kEdges.size()> edges{};
  std::uint64_t tasks = 0;
  std::uint64_t handler_starts = 0;
  std::uint64_t adoptions = 0;
  std::uint64_t takeovers = 0;
  std::uint64_t deaths = 0;
  std::uint64_t refused = 0;
  std::uint64_t already_applied = 0;
  std::uint64_t in_doubt = 0;
  std::uint64_t told = 0;
  std::uint64_t steps = 0;

  void count(Fault fault) { ++faults[static_cast<std::size_t>(fault)]; }
  [[nodiscard]] std::uint64_t fault_total() const;
  void count_edge(task::State from, task::Move move, task::State to);
  void add(const Coverage& other);
  // Fault kinds and edges that never came up.
  [[nodiscard]] std::vector<std::string> missing() const;
};

}  // namespace recourse::sim

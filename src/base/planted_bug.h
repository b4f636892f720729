// Bugs planted on purpose, to prove that the simulation would find them. They exist only where
// RECOURSE_PLANTED_BUGS is defined, which is the simulation's own build of the product; everywhere
// else planted() is false at compile time and nothing is left of them.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

namespace recourse {

// Each with the invariant it breaks.
enum class PlantedBug : std::uint8_t {
  kNone,
  kApplyWithoutFence,    // I5: an owner's write ignores fence and lease id
  kAdoptKeepsFence,      // I4: a takeover leaves the fence as it was
  kStickyKeepsFence,     // I4: a retry on the same node leaves the fence as it was
  kAckBeforeCommit,      // I1: a submit is acknowledged before it is durable
  kRepeatRunsAgain,      // I1: a repeated insert does not look into the archive
  kPurgeWithoutAudit,    // I1: a purge leaves no trace
  kKeyNotFreed,          // I2: a finished task keeps its unique key
  kKeyFreedEarly,        // I2: a retry gives the unique key away
  kReleaseKeepsOwner,    // I3: what is handed back keeps its owner
  kDeclareOldBeat,       // I3: a node is declared dead although it has beaten since
  kDeclareUnhealthy,     // I3: a node that was cut off itself declares others dead
  kBornNotMine,          // I6: a submitter runs what it thinks was born claimed
  kNoSelfFencing,        // I6: a node without heartbeats goes on starting
  kRunsAfterDeath,       // I6: a node that was declared dead runs what it still holds
  kReconcileInFlight,    // I6: the comparison with the store ignores calls in flight
  kAttemptCountedTwice,  // I7: an attempt is counted twice
  kRetriesBeyondMax,     // I7: one retry more than allowed
  kStartsNotRecorded,    // I7: a start after a takeover is not written down
  kDeathsNotCounted,     // I7: an owner's death is not counted
  kAdoptedAsPaused,      // I8: a takeover pauses the task
  kRequestIgnored,       // I8: what a person asked of an owned task is forgotten
  kClaimIgnoresDue,      // I9: a claim takes what is due soon
  kDeadlineIgnored,      // I9: an attempt starts after its deadline
  kScanTooSeldom,        // I9: the node looks for due tasks five times too seldom
  kAdoptOnce,            // I10: only a node that joins frees what the dead owned
  kNoReconcile,          // I10: claims in doubt are never compared with the store
  kOutcomeDropped,       // I10, I17: an outcome is dropped when the store does not answer
  kCountsNotMoved,       // I14: an adoption moves no counts
  kHeartbeatStopsFirst,  // I15: on shutdown the heartbeat stops before the work
  kStopKeepsUnstarted,   // I15: on shutdown what has not started is kept
  kLostCommitIsFailure,  // I17: a lost reply is taken for a failure
  kCaseNotOpened,        // I11: a failure of the business opens no case
  kToldWhenTaken,        // I11: a reminder is counted before anybody was told
  kReminderTooSoon,      // I11: a reminder does not wait for its interval
  kPauseConfirmedEarly,  // a kind's pause is confirmed, and not obeyed
};

struct NamedBug {
  PlantedBug bug;
  std::string_view name;
};

inline constexpr std::array kPlantedBugs{
    NamedBug{PlantedBug::kApplyWithoutFence, "apply_without_fence"},
    NamedBug{PlantedBug::kAdoptKeepsFence, "adopt_keeps_fence"},
    NamedBug{PlantedBug::kStickyKeepsFence, "sticky_keeps_fence"},
    NamedBug{PlantedBug::kAckBeforeCommit, "ack_before_commit"},
    NamedBug{PlantedBug::kRepeatRunsAgain, "repeat_runs_again"},
    NamedBug{PlantedBug::kPurgeWithoutAudit, "purge_without_audit"},
    NamedBug{PlantedBug::kKeyNotFreed, "key_not_freed"},
    NamedBug{PlantedBug::kKeyFreedEarly, "key_freed_early"},
    NamedBug{PlantedBug::kReleaseKeepsOwner, "release_keeps_owner"},
    NamedBug{PlantedBug::kDeclareOldBeat, "declare_old_beat"},
    NamedBug{PlantedBug::kDeclareUnhealthy, "declare_unhealthy"},
    NamedBug{PlantedBug::kBornNotMine, "born_not_mine"},
    NamedBug{PlantedBug::kNoSelfFencing, "no_self_fencing"},
    NamedBug{PlantedBug::kRunsAfterDeath, "runs_after_death"},
    NamedBug{PlantedBug::kReconcileInFlight, "reconcile_in_flight"},
    NamedBug{PlantedBug::kAttemptCountedTwice, "attempt_counted_twice"},
    NamedBug{PlantedBug::kRetriesBeyondMax, "retries_beyond_max"},
    NamedBug{PlantedBug::kStartsNotRecorded, "starts_not_recorded"},
    NamedBug{PlantedBug::kDeathsNotCounted, "deaths_not_counted"},
    NamedBug{PlantedBug::kAdoptedAsPaused, "adopted_as_paused"},
    NamedBug{PlantedBug::kRequestIgnored, "request_ignored"},
    NamedBug{PlantedBug::kClaimIgnoresDue, "claim_ignores_due"},
    NamedBug{PlantedBug::kDeadlineIgnored, "deadline_ignored"},
    NamedBug{PlantedBug::kScanTooSeldom, "scan_too_seldom"},
    NamedBug{PlantedBug::kAdoptOnce, "adopt_once"},
    NamedBug{PlantedBug::kNoReconcile, "no_reconcile"},
    NamedBug{PlantedBug::kOutcomeDropped, "outcome_dropped"},
    NamedBug{PlantedBug::kCountsNotMoved, "counts_not_moved"},
    NamedBug{PlantedBug::kHeartbeatStopsFirst, "heartbeat_stops_first"},
    NamedBug{PlantedBug::kStopKeepsUnstarted, "stop_keeps_unstarted"},
    NamedBug{PlantedBug::kLostCommitIsFailure, "lost_commit_is_failure"},
    NamedBug{PlantedBug::kCaseNotOpened, "case_not_opened"},
    NamedBug{PlantedBug::kToldWhenTaken, "told_when_taken"},
    NamedBug{PlantedBug::kReminderTooSoon, "reminder_too_soon"},
    NamedBug{PlantedBug::kPauseConfirmedEarly, "pause_confirmed_early"},
};

constexpr std::string_view to_string(PlantedBug bug) {
  for (const NamedBug& named : kPlantedBugs) {
    if (named.bug == bug) return named.name;
  }
  return "none";
}

constexpr std::optional<PlantedBug> parse_planted_bug(std::string_view name) {
  for (const NamedBug& named : kPlantedBugs) {
    if (named.name == name) return named.bug;
  }
  return std::nullopt;
}

#ifdef RECOURSE_PLANTED_BUGS

inline PlantedBug planted_now = PlantedBug::kNone;
inline bool planted(PlantedBug bug) { return planted_now == bug; }
// Before any thread that runs the product.
inline void plant_bug(PlantedBug bug) { planted_now = bug; }

#else

constexpr bool planted(PlantedBug) { return false; }

#endif

}  // namespace recourse

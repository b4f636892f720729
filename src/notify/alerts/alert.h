// What a person wants to hear of before anybody asks: a figure that is on the wrong side of a
// limit.
#pragma once

#include <array>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "notify/event.h"
#include "policy/alert_rule.h"
#include "task/state.h"

namespace recourse::notify {

enum class AlertFigure : std::uint8_t {
  kCount,        // tasks in a state
  kBacklog,      // tasks that are due and not yet taken
  kOldestDue,    // how long the oldest of them has been due, in seconds
  kFailureRate,  // of a node's attempts within a time, 0 to 1
  kTakeovers,    // tasks that a node took over from dead ones within a time
  kLostNodes,    // nodes that a node declared dead within a time
  kLiveNodes,    // nodes that are not dead
  kSilence,      // how long no node has sent a heartbeat, in seconds
  kStalled,      // how long a node's scheduler has not moved, in seconds
};

inline constexpr std::array kAllAlertFigures{
    AlertFigure::kCount,       AlertFigure::kBacklog,   AlertFigure::kOldestDue,
    AlertFigure::kFailureRate, AlertFigure::kTakeovers, AlertFigure::kLostNodes,
    AlertFigure::kLiveNodes,   AlertFigure::kSilence,   AlertFigure::kStalled};

constexpr std::string_view to_string(AlertFigure figure) {
  switch (figure) {
    case AlertFigure::kCount: return "count";
    case AlertFigure::kBacklog: return "backlog";
    case AlertFigure::kOldestDue: return "oldest_due";
    case AlertFigure::kFailureRate: return "failure_rate";
    case AlertFigure::kTakeovers: return "takeovers";
    case AlertFigure::kLostNodes: return "lost_nodes";
    case AlertFigure::kLiveNodes: return "live_nodes";
    case AlertFigure::kSilence: return "silence";
    case AlertFigure::kStalled: return "stalled";
  }
  std::abort();
}

// What only a node itself knows: every node has such an alert of its own.
constexpr bool is_of_one_node(AlertFigure figure) {
  switch (figure) {
    case AlertFigure::kFailureRate:
    case AlertFigure::kTakeovers:
    case AlertFigure::kLostNodes:
    case AlertFigure::kStalled: return true;
    case AlertFigure::kCount:
    case AlertFigure::kBacklog:
    case AlertFigure::kOldestDue:
    case AlertFigure::kLiveNodes:
    case AlertFigure::kSilence: return false;
  }
  std::abort();
}

// What happened lately, as against how things stand.
constexpr bool is_over_a_time(AlertFigure figure) {
  return figure == AlertFigure::kFailureRate || figure == AlertFigure::kTakeovers ||
         figure == AlertFigure::kLostNodes;
}

inline constexpr std::size_t kAlertsMax = 100;

struct AlertDefinition {
  std::string name = {};
  AlertFigure figure = AlertFigure::kCount;
  // Of kCount.
  task::State state = task::State::kDead;
  // A kind, or `orders.*` for all that begin so; none: all. Of what is counted by kind.
  std::vector<std::string> kinds = {};
  policy::AlertSettings rule = {};
  // How far back a figure looks that is over a time.
  Duration within = std::chrono::minutes(5);
  // A rate of fewer attempts than these says nothing.
  int min_attempts = 20;
  Severity severity = Severity::kWarning;
};

Result<> validate(const AlertDefinition& alert);

// Whether a kind counts for it.
bool counts(const AlertDefinition& alert, std::string_view kind);

// "dead tasks of orders.*", "the oldest due task's wait, in seconds".
std::string subject_of(const AlertDefinition& alert);

}  // namespace recourse::notify

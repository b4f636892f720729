// What a seed decides once for its whole run: how much of what there is. Each seed leaves some
// kinds of trouble out, because troubles hide each other.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "base/rng.h"
#include "base/time.h"
#include "engine/core/rules.h"
#include "engine/core/settings.h"

namespace recourse::sim {

inline constexpr Duration kTtl = std::chrono::seconds(30);
inline constexpr Duration kScanPeriod = std::chrono::seconds(2);
inline constexpr Duration kNoHandlerAfter = std::chrono::minutes(2);

struct Plan {
  int nodes = 5;
  TimePoint start;
  TimePoint faults_end;
  TimePoint end;

  int tasks = 1'100;
  // Of each store call.
  double lost_call = 0;
  double lost_reply = 0;
  double late_commit = 0;
  double slow_call = 0;
  double ghost_commit = 0.5;
  // Between two faults of the machines.
  Duration fault_every{};
  // Shares of the draws, in the order of kMachineFaults.
  std::array<int, 7> fault_weights{};
  // How bad handlers are.
  double handler_trouble = 0;
  Duration click_every{};
  int poisonous = 0;
  int workers = 0;
};

Plan make_plan(Rng& rng, int nodes, Duration length);

// Kinds: everywhere; on the first two nodes only; on none.
inline constexpr std::array kCommonKinds{"mail", "pay", "sync", "calm"};
inline constexpr const char* kRareKind = "rare";
inline constexpr const char* kNobodysKind = "orphan";
// Handlers of it always succeed at once.
inline constexpr const char* kCalmKind = "calm";

engine::NodeSettings node_settings(int node);
engine::KindTable kinds_of(int node);

}  // namespace recourse::sim

// One simulated cluster from one seed: nodes, store, workers, submitters, people, and what goes
// wrong. Everything that happens is written down, and the checkers look at it as it happens.
//
// Thread safety: none; seeds run in parallel, each in a world of its own.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/rng.h"
#include "base/ulid.h"
#include "sim/checker.h"
#include "sim/coverage.h"
#include "sim/ledger.h"
#include "sim/network.h"
#include "sim/node.h"
#include "sim/plan.h"
#include "sim/schedule.h"
#include "sim/sim_store.h"
#include "sim/trace.h"

namespace recourse::sim {

class Faults;
class Workload;
class Tellers;
class Workers;

struct SeedResult {
  std::uint64_t seed = 0;
  std::uint64_t trace_hash = 0;
  Coverage coverage;
  std::optional<Violation> violation;
  std::string tail;
};

class World {
 public:
  World(std::uint64_t seed, int nodes, Duration length);
  ~World();
  World(const World&) = delete;
  World& operator=(const World&) = delete;

  // With so many lines of the trace where something broke.
  SeedResult run(std::size_t tail);

  // --- what its parts share ---
  const std::uint64_t seed;
  Rng rng;
  const Plan plan;
  Schedule schedule;
  WorldClock clock;
  Trace trace;
  Ledger ledger;
  Coverage coverage;
  SimStore store;
  Network network;

  [[nodiscard]] Node& node(int index) { return *nodes_[static_cast<std::size_t>(index)]; }
  [[nodiscard]] bool is_quiet() const { return schedule.now() >= plan.faults_end; }
  bool chance(double probability) {
    return probability > 0 && !is_quiet() && rng.fraction() < probability;
  }

  // --- news, for the checkers ---
  void insert_made(std::span<const store::Submission> batch, const store::InsertAnswer& answer);
  void notes_made(std::span<const store::Jotting> batch, const std::vector<bool>& kept);
  void cases_taken(std::span<const store::DueCase> cases);
  void cases_put_off(std::span<const store::PutOff> batch,
                     const Result<std::vector<std::optional<TimePoint>>>& ends);
  void case_told(const store::Case& held);
  void case_assigned(const store::Case& now);
  void submit_answered(int node, const engine::SubmitAnswer& answer);
  void acknowledged(const task::TaskId& submitted, const task::TaskId& task);
  void handler_started(HandlerRun run);
  void outcome_sent(int node, std::uint64_t process, const task::Transition& outcome);
  void count_verdicts(const std::vector<store::Applied>& answers);
  void node_changed();
  void node_left(const task::Incarnation& left);
  void purged(std::size_t tasks, std::size_t audit_rows);
  Result<bool> declare(store::Store& store, const engine::DeclareDead& order,
                       const task::Incarnation& by, bool healthy);

  // --- machines ---
  void crash_and_restart(int node);
  void restart_later(int node);

 private:
  void observe(const StoreCall& call, const std::vector<RowChange>& changes);
  void count_change(const RowChange& change);
  void begin_quiet();
  void check_end();
  // After everything that may have found something.
  void stop_if_broken();

  std::vector<std::unique_ptr<Node>> nodes_;
  Checkers checkers_;
  std::unique_ptr<Faults> faults_;
  std::unique_ptr<Workload> workload_;
  std::unique_ptr<Workers> workers_;
  std::unique_ptr<Tellers> tellers_;
};

}  // namespace recourse::sim

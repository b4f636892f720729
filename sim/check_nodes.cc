// Who may be declared dead, how a node leaves, and what a paused kind means.
#include <fmt/format.h>

#include <set>

#include "sim/checker.h"
#include "sim/plan.h"

namespace recourse::sim {
namespace {

using namespace std::chrono_literals;

// I3: a node dies only after a whole TTL without a heartbeat, by the hand of one whose own
// heartbeats went well for as long; and never one that nothing kept from the store.
class DeathsExplained final : public Checker {
 public:
  using Checker::Checker;

  void died(const Death& death) override {
    const task::Incarnation& victim = death.victim.info.incarnation;
    if (victim == death.by) return;
    const Duration silent = death.at - death.victim.beat_at;
    if (silent < kTtl - kTtl / 50) {
      broken("I3 deaths are explained",
             fmt::format("its last heartbeat was {} us ago", silent.count()), {}, death.at);
    }
    if (!death.declarer_was_healthy) {
      broken("I3 deaths are explained", "whoever declared it dead had been cut off itself", {},
             death.at);
    }
    const auto facts = ledger_.processes.find(victim);
    if (facts == ledger_.processes.end() || facts->second.gone) return;
    if (death.at - facts->second.troubled_at > 2 * kTtl) {
      broken(facts->second.stopping ? "I15 clean stop" : "I3 deaths are explained",
             "it was alive, and nothing had kept it from the store", {}, death.at);
    }
  }
};

// I15: after a clean stop no row is running under that node, except what was cut off.
class CleanStop final : public Checker {
 public:
  using Checker::Checker;

  void left(const task::Incarnation& node, TimePoint at) override {
    const task::Owner owner(node);
    for (auto it = data_.owned().lower_bound({owner, task::TaskId()});
         it != data_.owned().end() && it->first == owner; ++it) {
      const task::Task* task = data_.find_live(it->second);
      const HandlerRun* run = ledger_.handler_of(task->id, task->ticket.fence);
      if (run != nullptr) continue;
      broken("I15 clean stop", "it is still running under a node that has left", task->id, at);
    }
  }
};

// A kind's pause is done once every live node has confirmed it; from then on no node starts one.
class PausesObeyed final : public Checker {
 public:
  using Checker::Checker;

  void node_changed(TimePoint) override {
    const store::Pauses& pauses = data_.pauses;
    const std::set<task::Kind> paused(pauses.kinds.begin(), pauses.kinds.end());
    std::erase_if(done_, [&](const task::Kind& kind) { return !paused.contains(kind); });
    if (paused.empty()) return;
    for (const auto& [incarnation, node] : data_.nodes) {
      if (!node.dead && node.pauses_seen < pauses.version) return;
    }
    done_ = paused;
  }

  void handler_started(const HandlerRun& run) override {
    const task::Task* now = row(run.task);
    if (run.node < 0 || now == nullptr || !done_.contains(now->spec.kind)) return;
    broken("a pause is obeyed",
           fmt::format("every node has confirmed that {} is paused", now->spec.kind.value),
           run.task, run.started_at);
  }

 private:
  std::set<task::Kind> done_;
};

}  // namespace

void add_node_checkers(Checkers& checkers, Ledger& ledger, const store::memory::Data& data) {
  checkers.push_back(std::make_unique<DeathsExplained>(ledger, data));
  checkers.push_back(std::make_unique<CleanStop>(ledger, data));
  checkers.push_back(std::make_unique<PausesObeyed>(ledger, data));
}

}  // namespace recourse::sim

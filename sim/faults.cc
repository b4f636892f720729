#include "sim/faults.h"

#include "sim/world.h"

namespace recourse::sim {
namespace {

using namespace std::chrono_literals;

constexpr int kDriftMax = 200;  // parts per million

}  // namespace

void Faults::begin() {
  for (int i = 0; i < world_.plan.nodes; ++i) {
    world_.schedule.at(world_.plan.start, [this, i] {
      const auto drift = static_cast<int>(world_.rng.between(0, 2 * kDriftMax)) - kDriftMax;
      world_.node(i).set_drift(drift);
      world_.node(i).jump_wall(world_.rng.between(Duration(0s), Duration(240s)) - 120s);
      if (drift != 0) world_.coverage.count(Fault::kDrift);
    });
  }
  next();
}

void Faults::next() {
  const Duration wait =
      world_.rng.between(world_.plan.fault_every / 4, world_.plan.fault_every * 7 / 4);
  const TimePoint when = world_.schedule.now() + wait;
  if (when >= world_.plan.faults_end) return;
  world_.schedule.at(when, [this] {
    cause(draw());
    next();
  });
}

void Faults::end() {
  world_.network.set_outage(false);
  world_.network.set_slow(false);
  for (int i = 0; i < world_.plan.nodes; ++i) world_.node(i).set_cut_off(false);
}

Fault Faults::draw() {
  int all = 0;
  for (const int weight : world_.plan.fault_weights) all += weight;
  auto left = static_cast<int>(world_.rng.between(0, static_cast<std::uint64_t>(all - 1)));
  for (std::size_t i = 0; i < kMachineFaults.size(); ++i) {
    left -= world_.plan.fault_weights[i];
    if (left < 0) return kMachineFaults[i];
  }
  return Fault::kCrash;
}

int Faults::any_node() {
  return static_cast<int>(world_.rng.between(0, static_cast<std::uint64_t>(world_.plan.nodes - 1)));
}

void Faults::cause(Fault fault) {
  const int node = any_node();
  Rng& rng = world_.rng;
  world_.coverage.count(fault);
  world_.trace.add(world_.schedule.now(), to_string(fault), node);
  switch (fault) {
    case Fault::kCrash:
      if (world_.node(node).is_up()) world_.crash_and_restart(node);
      break;
    case Fault::kStop: world_.node(node).stop(rng.between(Duration(1s), Duration(90s))); break;
    case Fault::kPause: {
      Duration length = rng.between(Duration(1s), Duration(100s));
      length = std::min(length, world_.plan.faults_end - world_.schedule.now());
      world_.node(node).pause(length);
      break;
    }
    case Fault::kPartition:
      world_.node(node).set_cut_off(true);
      world_.schedule.after(rng.between(Duration(1s), Duration(90s)),
                            [this, node] { world_.node(node).set_cut_off(false); });
      break;
    case Fault::kOutage:
      world_.network.set_outage(true);
      for (int i = 0; i < world_.plan.nodes; ++i) world_.node(i).trouble();
      world_.schedule.after(rng.between(Duration(1s), Duration(60s)), [this] {
        world_.network.set_outage(false);
        for (int i = 0; i < world_.plan.nodes; ++i) world_.node(i).trouble();
      });
      break;
    case Fault::kSlowStore:
      world_.network.set_slow(true);
      world_.schedule.after(rng.between(Duration(1s), Duration(40s)), [this] {
        world_.network.set_slow(false);
        for (int i = 0; i < world_.plan.nodes; ++i) world_.node(i).trouble();
      });
      break;
    default: world_.node(node).jump_wall(rng.between(Duration(0s), Duration(600s)) - 300s); break;
  }
}

}  // namespace recourse::sim

#include "sim/plan.h"

#include <fmt/format.h>

#include "base/invariant.h"

namespace recourse::sim {
namespace {

using namespace std::chrono_literals;

// 2026-01-01.
constexpr TimePoint kStart{std::chrono::seconds(1'767'225'600)};

double often(Rng& rng, double most) { return rng.fraction() < 0.7 ? rng.fraction() * most : 0.0; }

engine::KindRules rules_of(const std::string& kind) {
  engine::KindRules rules;
  rules.settings.concurrency = 4;
  rules.settings.queue = 50;
  rules.settings.backoff.base = 1s;
  rules.settings.backoff.min = 500ms;
  rules.settings.backoff.max = 20s;
  rules.settings.breaker.open_for = 10s;
  rules.settings.put_off_factor = 2.0;
  if (kind == "pay") rules.settings.tenant_max = 3;
  if (kind == "sync") rules.settings.asynchronous = true;
  if (kind == kRareKind) rules.settings.rate = policy::RateSettings{.per_second = 5, .burst = 5};
  return rules;
}

}  // namespace

Plan make_plan(Rng& rng, int nodes, Duration length) {
  Plan plan;
  plan.nodes = nodes;
  plan.start = kStart;
  plan.faults_end = kStart + length * 7 / 10;
  plan.end = kStart + length;
  plan.tasks = static_cast<int>(rng.between(1'020, 1'150));
  plan.lost_call = often(rng, 0.02);
  plan.lost_reply = often(rng, 0.03);
  plan.late_commit = often(rng, 0.01);
  plan.slow_call = often(rng, 0.02);
  const auto faults = static_cast<Duration::rep>(rng.between(25, 60));
  plan.fault_every = (plan.faults_end - plan.start) / faults;
  for (int& weight : plan.fault_weights) {
    weight = rng.fraction() < 0.7 ? static_cast<int>(rng.between(1, 10)) : 0;
  }
  // Something always goes wrong.
  plan.fault_weights[0] += 1;
  plan.handler_trouble = rng.fraction();
  plan.click_every = rng.between(Duration(2s), Duration(20s));
  plan.poisonous = static_cast<int>(rng.between(0, 3));
  plan.workers = static_cast<int>(rng.between(0, 2));
  return plan;
}

engine::NodeSettings node_settings(int node) {
  engine::NodeSettings settings;
  settings.name = fmt::format("node-{}", node);
  settings.lease.ttl = kTtl;
  settings.scan.period = kScanPeriod;
  settings.executor.core_threads = 1;
  // As many as all lanes together use: what the core starts does not wait for a thread.
  settings.executor.max_threads = 16;
  settings.executor.queue = 20;
  // Runs in turn are for short handlers; here those of some nodes count as such, and often are not.
  settings.executor.in_turn_for = node % 2 == 0 ? Duration(600ms) : Duration(500us);
  settings.no_handler_after = kNoHandlerAfter;
  return settings;
}

engine::KindTable kinds_of(int node) {
  engine::KindTable table;
  const auto add = [&](const std::string& kind) {
    const Result<> added = table.add(kind, rules_of(kind));
    invariant(added.has_value(), "the world's kinds are valid");
  };
  for (const char* kind : kCommonKinds) add(kind);
  if (node < 2) add(kRareKind);
  return table;
}

}  // namespace recourse::sim

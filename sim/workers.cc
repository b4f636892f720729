#include "sim/workers.h"

#include <fmt/format.h>

#include <utility>

#include "sim/world.h"
#include "task/transition.h"

namespace recourse::sim {
namespace {

using namespace std::chrono_literals;

constexpr Duration kLease = 15s;
constexpr Duration kWorkerCall = 5s;

}  // namespace

void Workers::begin() {
  for (int i = 0; i < world_.plan.workers; ++i) {
    const std::string name = fmt::format("outside-{}", i);
    world_.schedule.after(5s, [this, name] { claim(name); });
  }
}

void Workers::lent(const task::Task& task) {
  if (world_.rng.fraction() < 0.2) return;
  world_.schedule.after(world_.rng.between(Duration(10ms), Duration(20s)),
                        [this, task] { report(task, task::Move::kSucceed); });
}

void Workers::claim(const std::string& name) {
  world_.schedule.after(world_.rng.between(Duration(5s), Duration(20s)),
                        [this, name] { claim(name); });
  Ulid lease;
  for (std::uint8_t& byte : lease.bytes) byte = static_cast<std::uint8_t>(world_.rng.next());
  store::ClaimRequest request;
  request.owner = task::WorkerName(name);
  request.lease = task::LeaseId(lease);
  request.lease_for = kLease;
  request.quotas = {{.kind = task::Kind("pay"), .limit = 2}};
  request.limit = 2;
  world_.network.ask<store::Claimed>(
      {}, {.verb = Verb::kClaim, .outcomes = {}, .ordered = {}, .wait = {}}, kWorkerCall,
      [request](store::Store& store) { return store.claim(request, kWorkerCall); },
      [this, name](const Result<store::Claimed>& answer) {
        if (!answer) return;
        for (const task::Task& task : answer->tasks) run(name, task);
      });
}

void Workers::run(const std::string& name, const task::Task& task) {
  // It stops in time by its own clock, as a node does.
  if (world_.schedule.now() + 2s > *task.lease_end) return;
  if (task.spec.deadline && world_.schedule.now() > *task.spec.deadline) {
    report(task, task::Move::kGiveUp);
    return;
  }
  if (task.start == task::StartMark::kAsked) {
    record_and_run(name, task);
    return;
  }
  world_.handler_started({.task = task.id,
                          .ticket = task.ticket,
                          .owner = *task.owner,
                          .node = -1,
                          .started_at = world_.schedule.now(),
                          .ended_at = std::nullopt,
                          .timed_out = false,
                          .lease_end = task.lease_end});
  const double draw = world_.rng.fraction();
  if (!world_.is_quiet() && draw < 0.2) {
    world_.coverage.count(Fault::kWorkerLost);
    // It hangs for long, and then reports all the same, or never does.
    const bool reports = world_.rng.fraction() < 0.5;
    world_.schedule.after(kLease + world_.rng.between(Duration(1s), Duration(40s)),
                          [this, task, reports] {
                            end_run(task);
                            if (reports) report(task, task::Move::kSucceed);
                          });
    return;
  }
  if (draw < 0.5) world_.schedule.after(5s, [this, task] { renew(task); });
  world_.schedule.after(world_.rng.between(Duration(10ms), Duration(12s)), [this, task] {
    end_run(task);
    report(task, task::Move::kSucceed);
  });
}

// An owner was lost before: the start is written down first.
void Workers::record_and_run(const std::string& name, const task::Task& task) {
  world_.network.ask<std::vector<bool>>(
      {}, {.verb = Verb::kStarts, .outcomes = {}, .ordered = {}, .wait = {}}, kWorkerCall,
      [task](store::Store& store) {
        const store::Held held{.task = task.id, .ticket = task.ticket};
        return store.record_starts({&held, 1}, kWorkerCall);
      },
      [this, name, task](const Result<std::vector<bool>>& answer) {
        if (!answer || !answer->front()) return;
        task::Task recorded = task;
        recorded.start = task::StartMark::kRecorded;
        run(name, recorded);
      });
}

void Workers::renew(const task::Task& task) {
  world_.network.ask<std::vector<std::optional<TimePoint>>>(
      {}, {.verb = Verb::kRenew, .outcomes = {}, .ordered = {}, .wait = {}}, kWorkerCall,
      [task](store::Store& store) {
        const store::Held held{.task = task.id, .ticket = task.ticket};
        return store.renew({&held, 1}, kLease, kWorkerCall);
      },
      [](const Result<std::vector<std::optional<TimePoint>>>&) {});
}

void Workers::end_run(const task::Task& task) {
  for (HandlerRun& run : world_.ledger.handlers[task.id]) {
    if (run.ticket == task.ticket && !run.ended_at) run.ended_at = world_.schedule.now();
  }
}

void Workers::report(const task::Task& task, task::Move move) {
  auto outcome = std::make_shared<store::Outcome>();
  outcome->transition = task::plan(task, move, world_.schedule.now());
  if (move == task::Move::kSucceed) outcome->transition.attempts = task.attempts + 1;
  world_.network.ask<std::vector<store::Applied>>(
      {}, {.verb = Verb::kApply, .outcomes = {outcome.get(), 1}, .ordered = {}, .wait = {}},
      kWorkerCall,
      [this, outcome](store::Store& store) {
        auto answer = store.apply({outcome.get(), 1}, kWorkerCall);
        if (answer) world_.count_verdicts(*answer);
        return answer;
      },
      [](const Result<std::vector<store::Applied>>&) {});
}

}  // namespace recourse::sim

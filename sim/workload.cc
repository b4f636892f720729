#include "sim/workload.h"

#include <fmt/format.h>

#include <array>
#include <utility>

#include "sim/handler.h"
#include "sim/world.h"

namespace recourse::sim {
namespace {

using namespace std::chrono_literals;

constexpr Duration kPatience = 25s;
constexpr Duration kCall = 10s;
constexpr int kProbes = 20;

}  // namespace

Workload::Workload(World& world) : world_(world), ids_(world.seed * 31 + 7) {}

void Workload::begin() {
  const Duration length = world_.plan.faults_end - world_.plan.start;
  for (int i = 0; i < world_.plan.tasks; ++i) {
    // In crowds: a few come at the same moment.
    const Duration when = world_.rng.between(Duration(3s), length - 30s);
    const auto crowd = i % 200 == 0 ? 40 : i % 10 == 0 ? world_.rng.between(1, 6) : 1;
    for (std::uint64_t one = 0; one < crowd; ++one) {
      world_.schedule.after(when, [this, i] { submit_one(i); });
    }
  }
  world_.schedule.after(world_.plan.click_every, [this] { click(); });
  world_.schedule.after(3min, [this] { purge(); });
}

void Workload::begin_quiet() {
  for (const char* kind : {"mail", "pay", "sync", kRareKind}) {
    set_kind_paused(task::Kind(kind), false, 0);
    // Once more, for a pause that was committed late.
    world_.schedule.after(1min, [this, kind] { set_kind_paused(task::Kind(kind), false, 0); });
  }
  // When the dust has settled, the cluster is punctual.
  world_.schedule.at(world_.plan.end - 2min, [this] { submit_probes(); });
}

void Workload::submit_probes() {
  for (int i = 0; i < kProbes; ++i) {
    store::Submission probe;
    probe.id = task::TaskId(ids_.next(world_.schedule.now()));
    probe.spec.kind = task::Kind(kCalmKind);
    probe.spec.payload = "probe";
    if (i % 2 == 0) probe.delay = world_.rng.between(Duration(1s), Duration(20s));
    const task::TaskId id = probe.id;
    waiting_[id] = {.submission = std::move(probe), .tries = 0, .submit = {}};
    send(id);
  }
}

store::Submission Workload::draw_submission(int number) {
  Rng& rng = world_.rng;
  store::Submission item;
  item.id = task::TaskId(ids_.next(world_.schedule.now()));
  task::TaskSpec& spec = item.spec;
  const std::array kinds{"mail", "mail", "pay", "pay", "sync", "sync", "calm", kRareKind};
  spec.kind = task::Kind(kinds[rng.between(0, kinds.size() - 1)]);
  if (number % 97 == 0) spec.kind = task::Kind(kNobodysKind);
  spec.tenant = task::Tenant(fmt::format("tenant-{}", rng.between(1, 3)));
  spec.priority = static_cast<int>(rng.between(0, 10));
  spec.payload = "work";
  spec.max_retries = static_cast<int>(rng.between(0, 5));
  spec.timeout = rng.between(Duration(2s), Duration(10s));
  if (rng.fraction() < 0.2) {
    spec.unique_key = task::UniqueKey(fmt::format("key-{}", rng.between(1, 12)));
  }
  if (rng.fraction() < 0.3) item.delay = rng.between(Duration(100ms), Duration(90s));
  if (rng.fraction() < 0.1) {
    spec.deadline = world_.schedule.now() + item.delay + rng.between(Duration(2s), Duration(60s));
  }
  if (number < world_.plan.poisonous) {
    spec.payload = kPoison;
    spec.kind = task::Kind("mail");
  }
  return item;
}

void Workload::submit_one(int number) {
  store::Submission item = draw_submission(number);
  const task::TaskId id = item.id;
  world_.ledger.submits[id] = {.id = id, .account = task::account_of(item.spec)};
  known_.push_back(id);
  waiting_[id] = {.submission = std::move(item), .tries = 0, .submit = {}};
  send(id);
}

void Workload::send(const task::TaskId& id) {
  const auto found = waiting_.find(id);
  if (found == waiting_.end()) return;
  Waiting& waiting = found->second;
  waiting.submit = engine::SubmitId(++submits_);
  const engine::SubmitId submit = waiting.submit;
  tries_[submit] = id;
  const auto node =
      static_cast<int>(world_.rng.between(0, static_cast<std::uint64_t>(world_.plan.nodes - 1)));
  const bool again = waiting.tries++ > 0;
  world_.trace.add(world_.schedule.now(), "submit", node, id, waiting.tries);
  if (!world_.node(node).submit(submit, waiting.submission, again)) {
    send_later(id);
    return;
  }
  // Nobody answers where the process is gone.
  world_.schedule.after(kPatience, [this, id, submit] {
    const auto still = waiting_.find(id);
    if (still != waiting_.end() && still->second.submit == submit) send(id);
  });
}

void Workload::send_later(const task::TaskId& id) {
  const TimePoint soonest = created_at(id.value) + 3 * store::kFreshFor;
  const TimePoint when = world_.schedule.now() + world_.rng.between(Duration(50ms), Duration(3s));
  world_.schedule.at(std::max(soonest, when), [this, id] { send(id); });
}

void Workload::answered(int, const engine::SubmitAnswer& answer) {
  const auto tried = tries_.find(answer.submit);
  if (tried == tries_.end()) return;
  const task::TaskId id = tried->second;
  tries_.erase(tried);
  if (answer.result) world_.acknowledged(id, answer.task);
  const auto found = waiting_.find(id);
  if (found == waiting_.end()) return;
  if (answer.result) {
    waiting_.erase(found);
  } else if (found->second.submit == answer.submit) {
    found->second.submit = {};
    send_later(id);
  }
}

void Workload::click() {
  if (world_.is_quiet()) return;
  world_.schedule.after(
      world_.rng.between(world_.plan.click_every / 2, world_.plan.click_every * 3 / 2),
      [this] { click(); });
  if (world_.rng.fraction() < 0.05) {
    const std::array kinds{"mail", "pay", "sync", kRareKind};
    const task::Kind kind(kinds[world_.rng.between(0, kinds.size() - 1)]);
    set_kind_paused(kind, true, 0);
    world_.schedule.after(world_.rng.between(Duration(10s), Duration(120s)),
                          [this, kind] { set_kind_paused(kind, false, 0); });
    return;
  }
  if (known_.empty()) return;
  // Mostly what is new, sometimes what is in front of a person.
  const std::size_t reach = std::min<std::size_t>(known_.size(), 30);
  task::TaskId id = known_[known_.size() - world_.rng.between(1, reach)];
  if (world_.rng.fraction() < 0.6) {
    for (const auto& [live, row] : world_.store.data().live()) {
      const bool waits = row.state != task::State::kPending && row.state != task::State::kRunning;
      if (waits && world_.rng.fraction() < 0.2) id = live;
    }
  }
  click_on(id);
}

task::Order Workload::draw_order() {
  using task::Move;
  const std::array moves{Move::kCancel, Move::kPause,  Move::kResume,   Move::kResolve,
                         Move::kIgnore, Move::kReopen, Move::kRetryNow, Move::kReopen};
  task::Order order;
  if (world_.rng.fraction() < 0.1) {
    order.payload = "edited";
    return order;
  }
  order.move = moves[world_.rng.between(0, moves.size() - 1)];
  if (order.move == Move::kReopen) order.deadline = world_.schedule.now() + 30min;
  return order;
}

void Workload::click_on(const task::TaskId& id) {
  const task::Order order = draw_order();
  world_.network.ask<store::ControlAnswer>(
      {}, {.verb = Verb::kControl, .outcomes = {}, .ordered = order.move, .wait = {}}, kCall,
      [id, order](store::Store& store) {
        return store.control(std::vector<task::TaskId>{id}, order, "somebody", kCall);
      },
      [this](const Result<store::ControlAnswer>& answer) {
        if (!answer || !answer->items.front().effect) return;
        if (*answer->items.front().effect != task::Effect::kRequested) return;
        for (int i = 0; i < world_.plan.nodes; ++i) world_.node(i).hint_requests();
      });
}

void Workload::set_kind_paused(const task::Kind& kind, bool paused, int tries) {
  wished_paused_[kind] = paused;
  world_.network.ask<std::int64_t>(
      {}, {.verb = Verb::kPauseKind, .outcomes = {}, .ordered = {}, .wait = {}}, kCall,
      [this, kind, paused](store::Store& store) {
        auto answer = store.pause_kind(kind, paused, "somebody", kCall);
        world_.trace.add(world_.schedule.now(), paused ? "kind paused" : "kind resumed", -1);
        world_.node_changed();
        return answer;
      },
      [this, kind, paused, tries](const Result<std::int64_t>& answer) {
        const bool is_wished = wished_paused_[kind] == paused;
        if (!answer && is_wished && tries < 100) set_kind_paused(kind, paused, tries + 1);
      });
}

void Workload::purge() {
  world_.schedule.after(3min, [this] { purge(); });
  world_.network.ask<std::size_t>(
      {}, {.verb = Verb::kPurge, .outcomes = {}, .ordered = {}, .wait = {}}, kCall,
      [this](store::Store& store) {
        const auto& audit = world_.store.data().audit;
        const std::int64_t newest = audit.empty() ? 0 : audit.rbegin()->first;
        const std::size_t before = world_.ledger.purged.size();
        auto answer =
            store.purge({.states = {}, .kind = {}, .ended_before = {}, .by = "clean-up"}, kCall);
        std::size_t rows = 0;
        for (auto it = audit.upper_bound(newest); it != audit.end(); ++it) ++rows;
        world_.purged(world_.ledger.purged.size() - before, rows);
        return answer;
      },
      [](const Result<std::size_t>&) {});
}

}  // namespace recourse::sim

#include "sim/world.h"

#include <utility>

#include "sim/faults.h"
#include "sim/tellers.h"
#include "sim/workers.h"
#include "sim/workload.h"

namespace recourse::sim {
namespace {

using namespace std::chrono_literals;

store::Retention retention() {
  store::Retention retention;
  // Some is forgotten while the world runs.
  retention.exceptions[{task::Kind("mail"), task::State::kSucceeded}] = 5min;
  return retention;
}

// The move by which a row came from one state to another, as far as the call tells.
std::optional<task::Move> move_of(const RowChange& change) {
  const task::Task* after = change.now();
  if (!change.before || after == nullptr) return std::nullopt;
  switch (change.verb) {
    case Verb::kClaim:
      if (change.before->state == task::State::kPending) return task::Move::kClaim;
      if (after->state == task::State::kRunning) return task::Move::kTakeOver;
      break;
    case Verb::kApply:
      if (change.shown != nullptr && after->state == change.shown->to) return change.shown->move;
      break;
    case Verb::kAdopt:
      if (after->state == task::State::kPending) return task::Move::kAdopt;
      break;
    case Verb::kControl: return change.ordered;
    default: return std::nullopt;
  }
  if (after->state == task::State::kDead) return task::Move::kGiveUp;
  return change.before->requested;
}

}  // namespace

std::string_view to_string(Verb verb) {
  switch (verb) {
    case Verb::kInsert: return "insert";
    case Verb::kClaim: return "claim";
    case Verb::kApply: return "apply";
    case Verb::kStarts: return "record_starts";
    case Verb::kRenew: return "renew";
    case Verb::kJoin: return "join";
    case Verb::kHeartbeat: return "heartbeat";
    case Verb::kDeclare: return "declare_dead";
    case Verb::kAdopt: return "adopt";
    case Verb::kControl: return "control";
    case Verb::kPauseKind: return "pause_kind";
    case Verb::kPurge: return "purge";
    case Verb::kNote: return "note";
    case Verb::kCases: return "cases";
  }
  std::abort();
}

Checkers make_checkers(Ledger& ledger, const store::memory::Data& data) {
  Checkers checkers;
  add_row_checkers(checkers, ledger, data);
  add_attempt_checkers(checkers, ledger, data);
  add_book_checkers(checkers, ledger, data);
  add_node_checkers(checkers, ledger, data);
  add_follow_up_checkers(checkers, ledger, data);
  add_note_checkers(checkers, ledger, data);
  add_case_checkers(checkers, ledger, data);
  return checkers;
}

World::World(std::uint64_t s, int nodes, Duration length)
    : seed(s),
      rng(s),
      plan(make_plan(rng, nodes, length)),
      schedule(plan.start),
      clock(schedule),
      store(clock, retention(),
            [this](const StoreCall& call, const std::vector<RowChange>& changes) {
              observe(call, changes);
            }),
      network(*this),
      checkers_(make_checkers(ledger, store.data())),
      faults_(std::make_unique<Faults>(*this)),
      workload_(std::make_unique<Workload>(*this)),
      workers_(std::make_unique<Workers>(*this)),
      tellers_(std::make_unique<Tellers>(*this)) {
  for (int i = 0; i < nodes; ++i) nodes_.push_back(std::make_unique<Node>(*this, i));
}

World::~World() = default;

SeedResult World::run(std::size_t tail) {
  faults_->begin();
  for (auto& node : nodes_) {
    schedule.after(rng.between(Duration(0us), Duration(5s)), [&node] { node->start(); });
  }
  workload_->begin();
  workers_->begin();
  tellers_->begin();
  schedule.at(plan.faults_end, [this] { begin_quiet(); });
  schedule.run_until(plan.end);
  if (!ledger.violation) check_end();
  coverage.tasks = ledger.inserted;
  SeedResult result{.seed = seed,
                    .trace_hash = trace.hash(),
                    .coverage = coverage,
                    .violation = ledger.violation,
                    .tail = {}};
  if (ledger.violation) result.tail = trace.tail(plan.start, ledger.violation->task, tail);
  return result;
}

void World::stop_if_broken() {
  if (ledger.violation) schedule.stop();
}

void World::begin_quiet() {
  trace.add(schedule.now(), "quiet", -1);
  faults_->end();
  workload_->begin_quiet();
  for (auto& node : nodes_) node->start();
}

void World::check_end() {
  for (const auto& checker : checkers_) checker->at_end(schedule.now());
}

void World::observe(const StoreCall& call, const std::vector<RowChange>& changes) {
  for (const RowChange& change : changes) {
    const task::Task* after = change.now();
    if (change.before == change.after && change.before) continue;
    // Not in the hot table at all; a purge takes it from the archive.
    if (!change.before && !change.after) {
      if (change.verb == Verb::kPurge && after == nullptr) ledger.purged.insert(change.id);
      continue;
    }
    trace.add(change.at, to_string(call.verb), -1, change.id,
              after == nullptr ? 0 : after->ticket.fence.value,
              after == nullptr ? -1 : static_cast<std::int64_t>(after->state));
    count_change(change);
    for (const auto& checker : checkers_) checker->row_changed(change);
  }
  stop_if_broken();
}

void World::count_change(const RowChange& change) {
  if (!change.before && change.after) ++ledger.inserted;
  const task::Task* after = change.now();
  if (!change.before || after == nullptr) return;
  if (change.verb == Verb::kAdopt) ++coverage.adoptions;
  const bool is_lent = change.verb == Verb::kApply && change.shown != nullptr &&
                       change.shown->lending && after->ticket == change.before->ticket;
  if (is_lent) workers_->lent(*after);
  // A request changes no state: it is not a move yet.
  if (!is_lent && after->ticket.fence == change.before->ticket.fence) return;
  if (const auto move = move_of(change)) {
    if (*move == task::Move::kTakeOver) ++coverage.takeovers;
    coverage.count_edge(change.before->state, *move, after->state);
  }
}

void World::insert_made(std::span<const store::Submission> batch,
                        const store::InsertAnswer& answer) {
  for (const auto& checker : checkers_) {
    checker->insert_made({.at = schedule.now(), .batch = batch, .answer = answer});
  }
  stop_if_broken();
}

void World::notes_made(std::span<const store::Jotting> batch, const std::vector<bool>& kept) {
  for (std::size_t i = 0; i < batch.size(); ++i) {
    if (!kept[i]) continue;
    for (const auto& checker : checkers_) checker->note_kept(batch[i], schedule.now());
  }
  stop_if_broken();
}

void World::cases_taken(std::span<const store::DueCase> cases) {
  for (const store::DueCase& one : cases) {
    trace.add(schedule.now(), "case taken", -1, one.held.task, one.held.fence.value,
              one.held.reminders);
    for (const auto& checker : checkers_) checker->case_taken(one.held, schedule.now());
  }
  stop_if_broken();
}

void World::cases_put_off(std::span<const store::PutOff> batch,
                          const Result<std::vector<std::optional<TimePoint>>>& ends) {
  for (std::size_t i = 0; i < batch.size(); ++i) {
    if (ends && !(*ends)[i]) continue;
    // In doubt: it may have been written, now or later.
    const TimePoint from = ends ? *(*ends)[i] : schedule.now() + batch[i].wait;
    for (const auto& checker : checkers_) {
      checker->case_put_off(batch[i].held, from, static_cast<bool>(ends));
    }
  }
}

void World::case_told(const store::Case& held) {
  ++coverage.told;
  trace.add(schedule.now(), "people told", -1, held.task, held.fence.value, held.reminders);
  for (const auto& checker : checkers_) checker->case_told(held, schedule.now());
  stop_if_broken();
}

void World::case_assigned(const store::Case& now) {
  trace.add(schedule.now(), "case assigned", -1, now.task, now.fence.value);
  for (const auto& checker : checkers_) checker->case_assigned(now, schedule.now());
}

void World::submit_answered(int node, const engine::SubmitAnswer& answer) {
  workload_->answered(node, answer);
}

void World::acknowledged(const task::TaskId& submitted, const task::TaskId& task) {
  trace.add(schedule.now(), "acknowledged", -1, submitted);
  for (const auto& checker : checkers_) checker->acknowledged(submitted, task, schedule.now());
  stop_if_broken();
}

void World::handler_started(HandlerRun run) {
  ++coverage.handler_starts;
  trace.add(run.started_at, "handler starts", run.node, run.task, run.ticket.fence.value);
  std::vector<HandlerRun>& runs = ledger.handlers[run.task];
  runs.push_back(std::move(run));
  const HandlerRun newest = runs.back();
  for (const auto& checker : checkers_) checker->handler_started(newest);
  stop_if_broken();
}

void World::outcome_sent(int node, std::uint64_t process, const task::Transition& outcome) {
  trace.add(schedule.now(), "outcome sent", node, outcome.task, outcome.ticket.fence.value,
            static_cast<std::int64_t>(outcome.move));
  for (const auto& checker : checkers_) {
    checker->outcome_sent(node, process, outcome, schedule.now());
  }
}

void World::count_verdicts(const std::vector<store::Applied>& answers) {
  for (const store::Applied& answer : answers) {
    if (answer.verdict == task::WriteVerdict::kRefused) ++coverage.refused;
    if (answer.verdict == task::WriteVerdict::kAlreadyApplied) ++coverage.already_applied;
  }
}

void World::node_changed() {
  for (const auto& checker : checkers_) checker->node_changed(schedule.now());
  stop_if_broken();
}

void World::node_left(const task::Incarnation& left) {
  for (const auto& checker : checkers_) checker->left(left, schedule.now());
  stop_if_broken();
}

void World::purged(std::size_t tasks, std::size_t audit_rows) {
  for (const auto& checker : checkers_) checker->purged(tasks, audit_rows, schedule.now());
  stop_if_broken();
}

Result<bool> World::declare(store::Store& verbs, const engine::DeclareDead& order,
                            const task::Incarnation& by, bool healthy) {
  const auto& nodes = store.data().nodes;
  const auto before = nodes.find(order.node);
  const std::optional<store::NodeRow> victim =
      before == nodes.end() ? std::nullopt : std::optional(before->second);
  Result<bool> answer = verbs.declare_dead(order.node, order.beat_seen, "node", order.within);
  if (victim && !victim->dead && nodes.at(order.node).dead) {
    trace.add(schedule.now(), "declared dead", ledger.processes[order.node].node, {},
              ledger.processes[by].node, static_cast<std::int64_t>(healthy));
    if (by != order.node) ++coverage.deaths;
    Node& machine = node(ledger.processes[order.node].node);
    if (machine.paused() || machine.cut_off() || network.outage()) machine.trouble();
    for (const auto& checker : checkers_) {
      checker->died(
          {.at = schedule.now(), .victim = *victim, .by = by, .declarer_was_healthy = healthy});
    }
  }
  node_changed();
  return answer;
}

void World::crash_and_restart(int index) {
  node(index).crash();
  restart_later(index);
}

void World::restart_later(int index) {
  schedule.after(rng.between(Duration(2s), Duration(60s)), [this, index] { node(index).start(); });
}

}  // namespace recourse::sim

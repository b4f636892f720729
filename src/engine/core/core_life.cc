// What a node's life means for the tasks it holds: requests, pauses, death, and the comparison of
// what it holds with what the store says it owns.
#include <algorithm>
#include <set>
#include <utility>

#include "base/planted_bug.h"
#include "engine/core/core.h"

namespace recourse::engine {
namespace {

// Read back in one comparison; the rest waits for the next.
constexpr std::size_t kReadBackMax = store::kPageRowsMax;

}  // namespace

void Core::handle(const WorkHint& event, TimePoint now, Commands&) {
  if (event.in <= Duration::zero()) return scanner_.hint(now);
  scanner_.expect(saturating_add(now, event.in));
}

void Core::handle(const RequestHint&, TimePoint now, Commands&) { life_.beat_soon(now); }

void Core::handle(const JoinEnded& event, TimePoint now, Commands& out) {
  if (!life_.on_join(event, now, out)) return;
  store_time_.learn(event.answer->now, now);
  obey(event.answer->pauses, now, out);
  scanner_.begin(now);
  next_reconcile_ = now + settings_.lease.ttl;
  next_counts_ = now;
}

void Core::handle(const HeartbeatEnded& event, TimePoint now, Commands& out) {
  switch (life_.on_heartbeat(event, now, out)) {
    case NodeLife::Pulse::kIgnored:
    case NodeLife::Pulse::kFailed: return;
    case NodeLife::Pulse::kDead:
      drop_what_has_not_started();
      recall_unbegun(out);
      return;
    case NodeLife::Pulse::kWell: break;
  }
  store_time_.next_period();
  store_time_.learn(event.answer->now, now);
  obey(event.answer->pauses, now, out);
  obey(event.answer->requests, now, out);
}

// Others have been told that it is theirs. What runs goes on, and its outcome is offered: the store
// refuses it where somebody has taken over.
void Core::drop_what_has_not_started() {
  if (planted(PlantedBug::kRunsAfterDeath)) return;
  std::vector<HeldTask*> unstarted;
  for (const auto& [id, held] : held_) {
    if (is_unstarted(held->stage)) unstarted.push_back(held.get());
  }
  for (HeldTask* held : unstarted) drop(*held);
}

void Core::handle(const NodesRead& event, TimePoint now, Commands& out) {
  life_.on_nodes(event, now, out);
  // Of kinds that only a star stands for there may be any number: each has a lane while it is used.
  std::erase_if(lanes_, [&](const auto& entry) {
    return entry.second->is_idle(now) && !kinds_.is_whole_name(entry.first);
  });
  for (const auto& [kind, lane] : lanes_) lane->set_live_nodes(life_.live_nodes(), now);
}

void Core::handle(const DeclareEnded& event, TimePoint now, Commands& out) {
  life_.on_declared(event, now, out);
}

void Core::handle(const AdoptEnded& event, TimePoint now, Commands& out) {
  life_.on_adopted(event, now, out);
  if (!event.answer || event.answer->tasks == 0) return;
  scanner_.hint(now);
  hint_others_ = true;
}

void Core::obey(const std::vector<store::ControlRequest>& requests, TimePoint now, Commands& out) {
  for (const store::ControlRequest& request : requests) {
    HeldTask* held = find_held(request.task);
    if (held == nullptr) continue;
    if (is_unstarted(held->stage)) {
      // Whoever writes the row carries the request out instead.
      release(*held, held->task->due_at, now);
      continue;
    }
    if (held->stage != Stage::kRunning) continue;
    recall_attempt_of(*held, out);
    if (request.move != task::Move::kPause && request.move != task::Move::kRetryNow) {
      stop_attempt_of(*held, StopReason::kCancelled, out);
    }
  }
}

void Core::obey(const store::Pauses& pauses, TimePoint now, Commands& out) {
  if (pauses.version == pauses_.version && pauses.kinds == pauses_.kinds) return;
  const bool is_news = pauses.version != pauses_.version;
  pauses_ = pauses;
  const std::set<task::Kind> paused(pauses.kinds.begin(), pauses.kinds.end());
  for (const auto& [kind, lane] : lanes_) {
    const bool was = lane->paused();
    lane->set_paused(paused.contains(kind) && !planted(PlantedBug::kPauseConfirmedEarly));
    if (was && !lane->paused()) scanner_.hint(now);
    if (!was && lane->paused()) recall_unbegun(out, lane.get());
  }
  std::vector<HeldTask*> back;
  for (const auto& [id, held] : held_) {
    const bool is_paused = held->lane != nullptr && held->lane->paused();
    if (is_unstarted(held->stage) && is_paused) back.push_back(held.get());
  }
  for (HeldTask* held : back) release(*held, held->task->due_at, now);
  life_.confirm_pauses(pauses.version);
  if (is_news) life_.beat_soon(now);
}

bool Core::is_in_flight(const task::LeaseId& lease) const {
  if (planted(PlantedBug::kReconcileInFlight)) return false;
  if (claim_ && claim_->lease == lease) return true;
  return std::ranges::any_of(inserts_,
                             [&](const auto& call) { return call.second.lease == lease; });
}

void Core::reconcile(TimePoint now, Commands& out) {
  if (reconciling_.out || now < next_reconcile_ || !life_.is_live() || stopping_) return;
  next_reconcile_ = now + settings_.lease.ttl;
  if (planted(PlantedBug::kNoReconcile)) return;
  reconciling_ = {.out = true, .changes_before = changes_};
  ended_since_read_.clear();
  out.emplace_back(ReadHeld{.node = life_.incarnation(), .within = settings_.store_timeout});
}

void Core::handle(const HeldRead& event, TimePoint now, Commands& out) {
  reconciling_.out = false;
  if (event.node != life_.incarnation()) return;
  if (!event.answer) {
    next_reconcile_ = std::min(next_reconcile_, now + heartbeat_interval(settings_.lease));
    return;
  }
  std::set<task::TaskId> owned;
  std::vector<task::TaskId> strange;
  for (const store::Held& row : *event.answer) {
    owned.insert(row.task);
    const bool known = held_.contains(row.task) || reconciled_.contains(row.task) ||
                       is_in_flight(row.ticket.lease);
    if (!known && strange.size() < kReadBackMax) strange.push_back(row.task);
  }
  std::vector<HeldTask*> lost;
  for (const auto& [id, held] : held_) {
    const bool is_comparable = held->changed <= reconciling_.changes_before;
    if (is_unstarted(held->stage) && is_comparable && !owned.contains(id)) {
      lost.push_back(held.get());
    }
  }
  for (HeldTask* held : lost) {
    out.emplace_back(Happening(NodeHappened{NodeEvent::kDropped, task::to_string(held->task->id)}));
    drop(*held);
  }
  if (!strange.empty()) {
    // One comparison at a time, to its end.
    reconciling_.out = true;
    ended_since_read_.clear();
    out.emplace_back(ReadTasks{.ids = std::move(strange), .within = settings_.store_timeout});
  }
}

void Core::handle(const TasksRead& event, TimePoint now, Commands& out) {
  reconciling_.out = false;
  const std::set<task::LeaseId> ended = std::exchange(ended_since_read_, {});
  if (!event.answer) return;
  for (const task::Task& task : *event.answer) {
    const bool is_mine =
        task.state == task::State::kRunning && task.owner == task::Owner(life_.incarnation());
    if (!is_mine || held_.contains(task.id) || is_in_flight(task.ticket.lease)) continue;
    // Taken in, run and written meanwhile.
    if (ended.contains(task.ticket.lease)) continue;
    if (!reconciled_.insert(task.id).second) continue;
    out.emplace_back(Happening(NodeHappened{NodeEvent::kReconciled, task::to_string(task.id)}));
    outcomes_.add({.transition = task::plan(task, task::Move::kRelease, store_time_.at(now)),
                   .attempt = std::nullopt});
  }
}

}  // namespace recourse::engine

// Finding, nodes, the books and forgetting.
#include <algorithm>
#include <limits>
#include <utility>

#include "base/planted_bug.h"
#include "store/filter.h"
#include "store/memory/transaction.h"

namespace recourse::store::memory {

using task::Task;
using task::TaskId;

Result<MemoryTransaction::Found> MemoryTransaction::find_live(const ByFilter& which) {
  Found found;
  const auto& live = data_.live();
  auto it = which.after ? live.lower_bound(*which.after) : live.end();
  while (it != live.begin()) {
    --it;
    if (!matches(which.filter, it->second) || !is_member_as_of(it->second, which.as_of)) continue;
    found.ids.push_back(it->first);
    if (found.ids.size() == which.limit) {
      found.next = it->first;
      break;
    }
  }
  return found;
}

Result<std::vector<Task>> MemoryTransaction::lock_owned(const task::Owner& owner,
                                                        std::size_t limit) {
  std::vector<TaskId> ids;
  for (auto it = data_.owned().lower_bound({owner, TaskId()});
       it != data_.owned().end() && it->first == owner && ids.size() < limit; ++it) {
    ids.push_back(it->second);
  }
  return lock(ids);
}

Result<std::vector<task::Incarnation>> MemoryTransaction::lifeless_owners() {
  std::vector<task::Incarnation> lifeless;
  for (const auto& [owner, id] : data_.owned()) {
    const auto* node = std::get_if<task::Incarnation>(&owner);
    if (node == nullptr || (!lifeless.empty() && lifeless.back() == *node)) continue;
    const auto row = data_.nodes.find(*node);
    if (row == data_.nodes.end() || row->second.dead) lifeless.push_back(*node);
  }
  return lifeless;
}

Result<> MemoryTransaction::insert_node(const NodeInfo& node) {
  written().nodes.try_emplace(node.incarnation,
                              NodeRow{.info = node, .started_at = now_, .beat_at = now_});
  return {};
}

Result<bool> MemoryTransaction::beat(task::Incarnation node, std::int64_t pauses_seen) {
  const auto row = data_.nodes.find(node);
  if (row == data_.nodes.end() || row->second.dead) return false;
  has_written_ = true;
  row->second.beat += 1;
  row->second.beat_at = now_;
  row->second.pauses_seen = pauses_seen;
  return true;
}

Result<MemoryTransaction::Death> MemoryTransaction::mark_dead(task::Incarnation node,
                                                              std::int64_t beat_seen) {
  const auto row = data_.nodes.find(node);
  if (row == data_.nodes.end() || row->second.dead) return Death::kAlready;
  if (row->second.beat != beat_seen && !planted(PlantedBug::kDeclareOldBeat)) return Death::kAlive;
  has_written_ = true;
  row->second.dead = true;
  return Death::kDeclared;
}

Result<std::vector<ControlRequest>> MemoryTransaction::requests_for(const task::Owner& owner) {
  std::vector<ControlRequest> requests;
  for (auto it = data_.owned().lower_bound({owner, TaskId()});
       it != data_.owned().end() && it->first == owner && requests.size() < kRequestsPerBeat;
       ++it) {
    const Task& task = *data_.find_live(it->second);
    if (task.requested) requests.push_back({.task = task.id, .move = *task.requested});
  }
  return requests;
}

Result<std::int64_t> MemoryTransaction::set_pause(const task::Kind& kind, bool paused,
                                                  std::string_view) {
  Pauses& pauses = written().pauses;
  std::erase(pauses.kinds, kind);
  if (paused) pauses.kinds.push_back(kind);
  std::ranges::sort(pauses.kinds);
  return ++pauses.version;
}

Result<> MemoryTransaction::add_counts(std::span<const CountChange> changes) {
  for (const CountChange& change : changes) {
    written().counts[{change.kind, change.state}] += change.by;
  }
  return {};
}

Result<> MemoryTransaction::add_attempts(std::span<const Attempt> attempts) {
  for (const Attempt& attempt : attempts) {
    auto& kept = written().attempts[attempt.task];
    kept.insert_or_assign(attempt.fence, attempt);
    std::erase_if(
        kept, [&](const auto& old) { return old.second.number <= attempt.number - kAttemptsKept; });
  }
  return {};
}

Result<> MemoryTransaction::add_audit(std::span<const AuditEntry> entries) {
  for (const AuditEntry& entry : entries) {
    auto& audit = written().audit;
    audit.emplace(audit.empty() ? 1 : audit.rbegin()->first + 1, entry);
  }
  return {};
}

Result<> MemoryTransaction::add_notes(std::span<const Note> notes) {
  for (const Note& note : notes) {
    auto& kept = written().notes[note.task];
    kept.try_emplace({note.fence, note.number}, note);
    if (kept.size() > static_cast<std::size_t>(kNotesKept)) kept.erase(kept.begin());
  }
  return {};
}

Result<std::vector<MemoryTransaction::Purgeable>> MemoryTransaction::lock_purgeable(
    const PurgeRequest& request) {
  std::vector<std::pair<TimePoint, Purgeable>> found;
  const auto consider = [&](const Task& task, TimePoint expires_at) {
    const bool named = std::ranges::count(request.states, task.state) > 0;
    const bool old = request.states.empty() ? expires_at <= now_
                                            : named && *task.ended_at < *request.ended_before;
    if (!old || (request.kind && *request.kind != task.spec.kind)) return;
    found.emplace_back(request.states.empty() ? expires_at : *task.ended_at,
                       Purgeable{.task = task.id, .kind = task.spec.kind, .state = task.state});
  };
  for (const auto& [id, row] : data_.archived) consider(row.task, row.expires_at);
  for (const auto& [id, task] : data_.live()) {
    if (task::needs_person(task.state) && !request.states.empty()) consider(task, kNever);
  }
  std::ranges::sort(found, {},
                    [](const auto& item) { return std::pair(item.first, item.second.task); });
  std::vector<Purgeable> rows;
  for (auto& [when, row] : found) {
    if (rows.size() == request.limit) break;
    rows.push_back(std::move(row));
  }
  return rows;
}

Result<> MemoryTransaction::forget(std::span<const TaskId> ids) {
  Data& data = written();
  for (const TaskId& id : ids) {
    if (const Task* row = data.find_live(id);
        row != nullptr && !row->spec.unique_key.value.empty()) {
      data.keys.erase(task::account_of(row->spec));
    }
    data.erase(id);
    data.archived.erase(id);
    data.cases.erase(id);
    data.attempts.erase(id);
    data.notes.erase(id);
    std::erase_if(data.audit, [&](const auto& entry) { return entry.second.task == id; });
  }
  return {};
}

}  // namespace recourse::store::memory

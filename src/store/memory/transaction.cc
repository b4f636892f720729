#include "store/memory/transaction.h"

#include <algorithm>
#include <utility>

#include "base/invariant.h"
#include "base/planted_bug.h"
#include "store/filter.h"
#include "store/shard.h"

namespace recourse::store::memory {
namespace {

using task::Task;
using task::TaskId;

bool in_range(const Task& task, const ShardRange& shards) {
  const int shard = shard_of(task.spec.shard_key);
  return shard >= shards.first && shard <= shards.last;
}

Task without_payload(Task task) {
  task.spec.payload.clear();
  return task;
}

}  // namespace

Result<std::vector<TaskId>> MemoryTransaction::take_keys(std::span<const KeyHolder> wanted,
                                                         KeyPatience) {
  invariant(std::ranges::is_sorted(wanted, {}, &KeyHolder::account),
            "everybody takes keys in one order, so that nobody waits in a circle");
  std::vector<TaskId> holders;
  for (const KeyHolder& key : wanted) {
    holders.push_back(written().keys.try_emplace(key.account, key.task).first->second);
  }
  return holders;
}

Result<> MemoryTransaction::release_keys(std::span<const task::Account> accounts) {
  for (const task::Account& account : accounts) written().keys.erase(account);
  return {};
}

Result<MemoryTransaction::InsertedRows> MemoryTransaction::insert_tasks(
    std::span<const NewTask> tasks) {
  InsertedRows inserted{.now = now_, .fresh = {}};
  for (const NewTask& item : tasks) {
    inserted.fresh.push_back(data_.find_live(item.id) == nullptr);
    if (!inserted.fresh.back()) continue;
    Task task;
    task.id = item.id;
    task.spec = *item.spec;
    task.state = item.state;
    task.ticket = item.ticket;
    task.owner = item.owner;
    task.created_at = inserted.now;
    task.due_at = saturating_add(inserted.now, item.delay);
    written().put(std::move(task));
  }
  return inserted;
}

Result<std::vector<ArchivedTicket>> MemoryTransaction::find_archived(std::span<const TaskId> ids) {
  std::vector<ArchivedTicket> found;
  for (const TaskId& id : ids) {
    const auto row = data_.archived.find(id);
    if (row == data_.archived.end()) continue;
    const Task& task = row->second.task;
    found.push_back({.task = id, .ticket = task.ticket, .state = task.state});
  }
  return found;
}

Result<> MemoryTransaction::remove_tasks(std::span<const TaskId> ids) {
  for (const TaskId& id : ids) written().erase(id);
  return {};
}

Taken MemoryTransaction::claim(const Task& row, const ClaimRequest& request) {
  Taken taken{.task = {}, .from = row.state, .owner = row.owner ? to_string(*row.owner) : ""};
  task::Claim claim{.owner = request.owner, .lease = request.lease, .lease_end = std::nullopt};
  if (request.lease_for) claim.lease_end = saturating_add(now_, *request.lease_for);
  taken.task = task::apply(row, claim);
  written().put(taken.task);
  return taken;
}

Result<TakenBatch> MemoryTransaction::take_due(const ClaimRequest& request, const Shares& shares) {
  TakenBatch batch{.now = now_, .tasks = {}};
  for (const Share& share : shares.kinds) {
    const int window = std::max(share.limit, share.limit_alone);
    // Larger priorities first, as they are to be taken.
    auto candidates = due_candidates(share.kind, request.shards, static_cast<std::size_t>(window));
    const bool alone =
        candidates->empty() || candidates->front().priority == candidates->back().priority;
    const auto most = static_cast<std::size_t>(alone ? share.limit_alone : share.limit);
    for (std::size_t i = 0; i < candidates->size() && i < most; ++i) {
      if (std::ssize(batch.tasks) == shares.limit) return batch;
      batch.tasks.push_back(claim(*data_.find_live((*candidates)[i].task), request));
    }
  }
  return batch;
}

Result<std::vector<Candidate>> MemoryTransaction::due_candidates(const task::Kind& kind,
                                                                 const ShardRange& shards,
                                                                 std::size_t window) {
  std::vector<Candidate> found;
  for (int priority = task::kPriorityMax; priority >= 0; --priority) {
    auto it = data_.due().lower_bound(Data::DueKey(kind, -priority, TimePoint::min(), TaskId()));
    for (std::size_t left = window; left > 0 && it != data_.due().end(); ++it) {
      const auto& [of_kind, order, available_at, id] = *it;
      const Duration early =
          planted(PlantedBug::kClaimIgnoresDue) ? std::chrono::seconds(5) : std::chrono::seconds(0);
      if (of_kind != kind || order != -priority || available_at > now_ + early) break;
      const Task& task = *data_.find_live(id);
      if (!in_range(task, shards)) continue;
      found.push_back({.task = id,
                       .tenant = task.spec.tenant,
                       .priority = priority,
                       .available_at = available_at});
      --left;
    }
  }
  return found;
}

Result<TakenBatch> MemoryTransaction::take(const ClaimRequest& request,
                                           std::span<const TaskId> ids) {
  TakenBatch batch{.now = now_, .tasks = {}};
  for (const TaskId& id : ids) {
    const Task* row = data_.find_live(id);
    if (row == nullptr || task::available_at(*row) > batch.now) continue;
    batch.tasks.push_back(claim(*row, request));
  }
  return batch;
}

const Task* MemoryTransaction::held(TaskId id, const task::Ticket& ticket) const {
  const Task* row = data_.find_live(id);
  return row != nullptr && row->ticket == ticket ? row : nullptr;
}

Result<std::vector<bool>> MemoryTransaction::write_moves(
    std::span<const task::Transition* const> moves) {
  std::vector<bool> done;
  for (const task::Transition* move : moves) {
    const Task* row = data_.find_live(move->task);
    const bool plain = row != nullptr && task::applies_as_it_is(*row, *move);
    if (plain && planted(PlantedBug::kKeyFreedEarly)) written().keys.erase(move->account);
    if (plain) written().put(task::apply(*row, *move));
    done.push_back(plain);
  }
  return done;
}

Result<std::vector<bool>> MemoryTransaction::write_finishes(std::span<const Finish> finishes) {
  std::vector<bool> done;
  for (const Finish& finish : finishes) {
    const task::Transition& move = *finish.transition;
    const Task* row = data_.find_live(move.task);
    const bool plain = row != nullptr && task::applies_as_it_is(*row, move);
    if (plain) written().archive(task::apply(*row, move), finish.expires_at);
    done.push_back(plain);
  }
  return done;
}

Result<std::vector<Task>> MemoryTransaction::lock(std::span<const TaskId> ids) {
  std::vector<Task> rows;
  for (const TaskId& id : ids) {
    if (const Task* row = data_.find_live(id)) rows.push_back(without_payload(*row));
  }
  return rows;
}

Result<> MemoryTransaction::write_rows(std::span<const Task> tasks) {
  for (Task task : tasks) {
    task.spec.payload = data_.find_live(task.id)->spec.payload;
    written().put(std::move(task));
  }
  return {};
}

Result<> MemoryTransaction::write_payload(TaskId id, std::string_view payload) {
  Task task = *data_.find_live(id);
  task.spec.payload = payload;
  written().put(std::move(task));
  return {};
}

Result<> MemoryTransaction::archive_rows(std::span<const Finished> tasks) {
  for (Finished finished : tasks) {
    finished.task.spec.payload = data_.find_live(finished.task.id)->spec.payload;
    written().archive(std::move(finished.task), finished.expires_at);
  }
  return {};
}

Result<std::vector<bool>> MemoryTransaction::write_starts(std::span<const Held> batch) {
  std::vector<bool> done;
  for (const Held& item : batch) {
    const Task* row = held(item.task, item.ticket);
    done.push_back(row != nullptr && row->state == task::State::kRunning);
    if (!done.back()) continue;
    Task started = *row;
    started.start = task::StartMark::kRecorded;
    written().put(std::move(started));
  }
  return done;
}

Result<std::vector<bool>> MemoryTransaction::write_lease_ends(std::span<const Held> batch,
                                                              TimePoint end) {
  std::vector<bool> done;
  for (const Held& item : batch) {
    const Task* row = held(item.task, item.ticket);
    done.push_back(row != nullptr && row->state == task::State::kRunning && row->lease_end);
    if (!done.back()) continue;
    Task renewed = *row;
    renewed.lease_end = end;
    written().put(std::move(renewed));
  }
  return done;
}

}  // namespace recourse::store::memory

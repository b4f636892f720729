#include "sim/observed_transaction.h"

namespace recourse::sim {

using task::TaskId;

void ObservedTransaction::touch(TaskId id) {
  const auto [place, is_new] = touched_.try_emplace(id);
  if (!is_new) return;
  if (const task::Task* row = data_.find_live(id)) place->second = *row;
}

Result<store::Transaction::InsertedRows> ObservedTransaction::insert_tasks(
    std::span<const store::NewTask> tasks) {
  for (const store::NewTask& item : tasks) touch(item.id);
  return inner_.insert_tasks(tasks);
}

Result<> ObservedTransaction::remove_tasks(std::span<const TaskId> ids) {
  for (const TaskId& id : ids) touch(id);
  return inner_.remove_tasks(ids);
}

// Which rows it takes is known only afterwards: all that could be taken are looked at before.
Result<store::TakenBatch> ObservedTransaction::take_due(const store::ClaimRequest& request,
                                                        const store::Shares& shares) {
  for (const store::Quota& quota : request.quotas) {
    const auto window = static_cast<std::size_t>(quota.limit);
    const auto candidates = inner_.due_candidates(quota.kind, request.shards, window);
    for (const store::Candidate& candidate : *candidates) touch(candidate.task);
  }
  return inner_.take_due(request, shares);
}

Result<store::TakenBatch> ObservedTransaction::take(const store::ClaimRequest& request,
                                                    std::span<const TaskId> ids) {
  for (const TaskId& id : ids) touch(id);
  return inner_.take(request, ids);
}

Result<std::vector<bool>> ObservedTransaction::write_moves(
    std::span<const task::Transition* const> moves) {
  for (const task::Transition* move : moves) touch(move->task);
  return inner_.write_moves(moves);
}

Result<std::vector<bool>> ObservedTransaction::write_finishes(
    std::span<const store::Finish> finishes) {
  for (const store::Finish& finish : finishes) touch(finish.transition->task);
  return inner_.write_finishes(finishes);
}

Result<> ObservedTransaction::write_rows(std::span<const task::Task> tasks) {
  for (const task::Task& task : tasks) touch(task.id);
  return inner_.write_rows(tasks);
}

Result<> ObservedTransaction::write_payload(TaskId id, std::string_view payload) {
  touch(id);
  return inner_.write_payload(id, payload);
}

Result<> ObservedTransaction::archive_rows(std::span<const store::Finished> tasks) {
  for (const store::Finished& finished : tasks) touch(finished.task.id);
  return inner_.archive_rows(tasks);
}

Result<std::vector<bool>> ObservedTransaction::write_starts(std::span<const store::Held> held) {
  for (const store::Held& item : held) touch(item.task);
  return inner_.write_starts(held);
}

Result<std::vector<bool>> ObservedTransaction::write_lease_ends(std::span<const store::Held> held,
                                                                TimePoint end) {
  for (const store::Held& item : held) touch(item.task);
  return inner_.write_lease_ends(held, end);
}

Result<> ObservedTransaction::forget(std::span<const TaskId> ids) {
  for (const TaskId& id : ids) touch(id);
  return inner_.forget(ids);
}

}  // namespace recourse::sim

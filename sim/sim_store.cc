#include "sim/sim_store.h"

#include "base/invariant.h"

namespace recourse::sim {

Result<> SimBackend::commit(FunctionRef<Result<>(store::Transaction&)> work) {
  ObservedTransaction transaction(data_, clock_);
  Result<> ran = work(transaction);
  invariant(ran || !transaction.has_written(), "in memory a verb fails before its first write");
  std::vector<RowChange> changes;
  changes.reserve(transaction.touched().size());
  for (const auto& [id, before] : transaction.touched()) {
    RowChange change{.at = clock_.now(),
                     .verb = call_->verb,
                     .id = id,
                     .before = before,
                     .after = std::nullopt,
                     .archived = nullptr,
                     .shown = nullptr,
                     .ordered = call_->ordered};
    if (const task::Task* row = data_.find_live(id)) change.after = *row;
    const auto archived = data_.archived.find(id);
    if (archived != data_.archived.end()) change.archived = &archived->second.task;
    for (const store::Outcome& outcome : call_->outcomes) {
      if (outcome.transition.task == id) change.shown = &outcome.transition;
    }
    changes.push_back(std::move(change));
  }
  observer_(*call_, changes);
  return ran;
}

Result<> SimBackend::run(store::Line, store::Repeat repeat, Duration,
                         FunctionRef<Result<>(store::Transaction&)> work) {
  invariant(call_ != nullptr, "the world knows of every call");
  Result<> ran = commit(work);
  if (!ran || !std::exchange(call_->lose_reply, false)) return ran;
  const Error in_doubt{ErrorCode::kInDoubt, "the reply to a commit was lost"};
  if (repeat == store::Repeat::kInDoubt) return fail(in_doubt);
  StoreCall* const own = call_;
  const bool again = own->wait();
  call_ = own;
  return again ? commit(work) : fail(in_doubt);
}

const task::Task* SimStore::find(const task::TaskId& id) const {
  if (const task::Task* row = data_.find_live(id)) return row;
  const auto row = data_.archived.find(id);
  return row == data_.archived.end() ? nullptr : &row->second.task;
}

std::vector<store::NodeRow> SimStore::nodes() const {
  std::vector<store::NodeRow> rows;
  for (const auto& [incarnation, row] : data_.nodes) rows.push_back(row);
  return rows;
}

std::vector<store::Held> SimStore::held_by(task::Incarnation node) const {
  std::vector<store::Held> held;
  const task::Owner owner(node);
  const auto& owned = data_.owned();
  for (auto it = owned.lower_bound({owner, task::TaskId()});
       it != owned.end() && it->first == owner; ++it) {
    held.push_back({.task = it->second, .ticket = data_.find_live(it->second)->ticket});
  }
  return held;
}

std::vector<task::Task> SimStore::tasks(const std::vector<task::TaskId>& ids) const {
  std::vector<task::Task> found;
  for (const task::TaskId& id : ids) {
    if (const task::Task* row = find(id)) found.push_back(*row);
  }
  return found;
}

}  // namespace recourse::sim

#include "store/memory/data.h"

#include "base/planted_bug.h"

namespace recourse::store::memory {
namespace {

Data::DueKey due_key(const task::Task& task) {
  return {task.spec.kind, -task.spec.priority, task::available_at(task), task.id};
}

}  // namespace

void Data::put(task::Task task) {
  erase(task.id);
  due_.insert(due_key(task));
  if (task.owner) owned_.emplace(*task.owner, task.id);
  live_.emplace(task.id, std::move(task));
}

void Data::erase(task::TaskId id) {
  const auto row = live_.find(id);
  if (row == live_.end()) return;
  due_.erase(due_key(row->second));
  if (row->second.owner) owned_.erase({*row->second.owner, id});
  live_.erase(row);
}

const task::Task* Data::find_live(task::TaskId id) const {
  const auto row = live_.find(id);
  return row == live_.end() ? nullptr : &row->second;
}

void Data::archive(task::Task task, TimePoint expires_at) {
  erase(task.id);
  const bool keeps_key = planted(PlantedBug::kKeyNotFreed);
  if (!task.spec.unique_key.value.empty() && !keeps_key) keys.erase(task::account_of(task.spec));
  const task::TaskId id = task.id;
  archived.insert_or_assign(id, Finished{.task = std::move(task), .expires_at = expires_at});
}

}  // namespace recourse::store::memory

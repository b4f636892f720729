#include <algorithm>

#include "store/memory/transaction.h"

namespace recourse::store::memory {

using task::TaskId;

Result<> MemoryTransaction::open_cases(std::span<const Case> cases) { return write_cases(cases); }

Result<> MemoryTransaction::close_cases(std::span<const TaskId> tasks) {
  for (const TaskId& id : tasks) written().cases.erase(id);
  return {};
}

Result<std::vector<Case>> MemoryTransaction::lock_due_cases(TimePoint now, std::size_t limit) {
  std::vector<Case> due;
  for (const auto& [id, one] : data_.cases) {
    if (one.remind_at && *one.remind_at <= now) due.push_back(one);
  }
  std::ranges::stable_sort(due, {}, &Case::remind_at);
  if (due.size() > limit) due.resize(limit);
  return due;
}

Result<std::vector<Case>> MemoryTransaction::lock_cases(std::span<const TaskId> tasks) {
  std::vector<Case> found;
  for (const TaskId& id : tasks) {
    const auto one = data_.cases.find(id);
    if (one != data_.cases.end()) found.push_back(one->second);
  }
  return found;
}

Result<> MemoryTransaction::write_cases(std::span<const Case> cases) {
  for (const Case& one : cases) written().cases.insert_or_assign(one.task, one);
  return {};
}

Result<std::vector<Case>> MemoryTransaction::list_cases(const std::optional<std::string>& assignee,
                                                        std::optional<TaskId> after,
                                                        std::size_t limit) {
  std::vector<Case> found;
  auto it = after ? data_.cases.upper_bound(*after) : data_.cases.begin();
  for (; it != data_.cases.end() && found.size() < limit; ++it) {
    if (!assignee || it->second.assignee == *assignee) found.push_back(it->second);
  }
  return found;
}

Result<std::vector<task::Task>> MemoryTransaction::peek(std::span<const TaskId> ids) {
  return lock(ids);
}

}  // namespace recourse::store::memory

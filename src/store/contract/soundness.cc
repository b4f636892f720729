// What holds after every case, whatever it did.
#include <set>

#include "store/contract/contract.h"

namespace recourse::store::contract {
namespace {

void expect_sound(const Task& task) {
  EXPECT_EQ(task.owner.has_value(), task.state == State::kRunning) << testing::PrintToString(task);
  EXPECT_EQ(task.ended_at.has_value(), is_finished(task.state) || needs_person(task.state))
      << testing::PrintToString(task);
  EXPECT_TRUE(!task.lease_end || task.state == State::kRunning) << testing::PrintToString(task);
  EXPECT_TRUE(!task.requested || task.state == State::kRunning) << testing::PrintToString(task);
}

void expect_one_live_task_a_key(const std::vector<Task>& tasks) {
  std::set<task::Account> taken;
  for (const Task& task : tasks) {
    if (task.spec.unique_key.value.empty() || is_finished(task.state)) continue;
    EXPECT_TRUE(taken.insert(task::account_of(task.spec)).second)
        << "two live tasks have the key of " << testing::PrintToString(task);
  }
}

void expect_newest_first(const std::vector<Task>& tasks) {
  for (std::size_t i = 1; i < tasks.size(); ++i) {
    EXPECT_GT(tasks[i - 1].id, tasks[i].id) << "newest first, and each once";
  }
}

}  // namespace

void StoreContract::TearDown() {
  if (!here_ || HasFatalFailure()) return;
  const std::vector<Task> all = listed();
  for (const Task& task : all) expect_sound(task);
  expect_newest_first(all);
  expect_one_live_task_a_key(all);
  expect_counts_equal_rows(all);
  expect_cases_equal_rows(all);
}

void StoreContract::expect_counts_equal_rows(const std::vector<Task>& tasks) {
  Counts rows;
  for (const Task& task : tasks) ++rows[{task.spec.kind, task.state}];
  EXPECT_EQ(must(reader().counts(kWithin)), rows) << "the counts are not those of the rows";
}

void StoreContract::expect_cases_equal_rows(const std::vector<Task>& tasks) {
  std::vector<TaskId> waiting;
  for (const Task& task : tasks) {
    if (task::needs_person(task.state)) waiting.push_back(task.id);
  }
  std::vector<TaskId> open;
  for (const Case& one : all_cases()) open.push_back(one.task);
  EXPECT_THAT(open, testing::UnorderedElementsAreArray(waiting))
      << "the cases are not those of who waits for a person";
}

}  // namespace recourse::store::contract

#include <algorithm>
#include <map>
#include <utility>

#include "base/invariant.h"
#include "store/relational/transaction.h"

namespace recourse::store::relational {

using task::TaskId;

namespace {

// Ids ascend.
std::size_t place_of(std::span<const NewTask> tasks, const TaskId& id) {
  const auto place = std::ranges::lower_bound(tasks, id, {}, &NewTask::id);
  invariant(place != tasks.end() && place->id == id, "only what was asked for is answered");
  return static_cast<std::size_t>(place - tasks.begin());
}

}  // namespace

Result<TimePoint> RelationalTransaction::now() {
  TimePoint now;
  const Result<> asked = connection().query(
      seat_.dialect.now, {}, [&](const sql::Row& row) { now = read_time(row.integer(0)); });
  if (!asked) return fail(asked.error());
  return now;
}

Result<std::vector<TaskId>> RelationalTransaction::take_keys(std::span<const KeyHolder> wanted,
                                                             KeyPatience patience) {
  invariant(std::ranges::is_sorted(wanted, {}, &KeyHolder::account),
            "everybody takes keys in one order, so that nobody waits in a circle");
  if (patience == KeyPatience::kBriefly) {
    if (Result<> set = connection().set_lock_patience(kKeyWait); !set) return fail(set.error());
  }
  std::map<std::string, TaskId, std::less<>> holders;
  if (care_ == Care::kCareful) {
    Values accounts;
    fill_list(accounts, wanted,
              [](Values& values, const KeyHolder& key) { values.kept_bytes(key_of(key.account)); });
    const std::string statement = "SELECT account, task_id FROM recourse_unique WHERE account IN " +
                                  list_of(wanted.size()) + " ORDER BY account" +
                                  std::string(seat_.dialect.for_update);
    const Result<> asked = connection().query(statement, accounts.view(), [&](const sql::Row& row) {
      holders.emplace(row.bytes(0), TaskId(read_ulid(row.bytes(1))));
    });
    if (!asked) return fail(asked.error());
  }
  Values fresh;
  std::vector<TaskId> answer;
  for (const KeyHolder& key : wanted) {
    std::string account = key_of(key.account);
    const auto holder = holders.find(account);
    answer.push_back(holder == holders.end() ? key.task : holder->second);
    if (holder == holders.end()) fresh.kept_bytes(std::move(account)).id(key.task.value);
  }
  if (fresh.empty()) return answer;
  const auto inserted = connection().execute_many(
      "INSERT INTO recourse_unique (account, task_id) VALUES (?, ?)", 2, fresh.view());
  if (!inserted) return fail(inserted.error());
  return answer;
}

Result<> RelationalTransaction::release_keys(std::span<const task::Account> accounts) {
  Values values;
  for (const task::Account& account : accounts) values.kept_bytes(key_of(account));
  const auto deleted =
      connection().execute_many("DELETE FROM recourse_unique WHERE account = ?", 1, values.view());
  return deleted ? Result<>{} : fail(deleted.error());
}

Result<Transaction::InsertedRows> RelationalTransaction::insert_tasks(
    std::span<const NewTask> tasks) {
  const Result<TimePoint> at = now();
  if (!at) return fail(at.error());
  InsertedRows inserted{.now = *at, .fresh = std::vector<bool>(tasks.size(), true)};
  if (care_ == Care::kCareful) {
    Values ids;
    fill_list(ids, tasks, [](Values& values, const NewTask& item) { values.id(item.id.value); });
    const auto there =
        ids_of("SELECT id FROM recourse_task WHERE id IN " + list_of(tasks.size()), ids);
    if (!there) return fail(there.error());
    for (const TaskId& id : *there) {
      inserted.fresh[place_of(tasks, id)] = false;
    }
    if (there->size() == tasks.size()) return inserted;
  }
  Values values;
  values.reserve(tasks.size() * kInsertTaskColumns);
  for (std::size_t i = 0; i < tasks.size(); ++i) {
    if (inserted.fresh[i]) add_new_task(values, tasks[i], *at);
  }
  const auto done = connection().execute_many(kInsertTask, kInsertTaskColumns, values.view());
  if (!done) return fail(done.error());
  if (Result<> keys = add_search_keys(tasks, inserted.fresh); !keys) return fail(keys.error());
  return inserted;
}

Result<> RelationalTransaction::add_search_keys(std::span<const NewTask> tasks,
                                                const std::vector<bool>& fresh) {
  Values values;
  for (std::size_t i = 0; i < tasks.size(); ++i) {
    if (!fresh[i]) continue;
    for (const auto& [name, value] : tasks[i].spec->search_keys) {
      values.kept_bytes(search_entry(name, value)).id(tasks[i].id.value);
    }
  }
  if (values.empty()) return {};
  return connection().execute_later("INSERT INTO recourse_search (entry, task_id) VALUES (?, ?)", 2,
                                    values.view());
}

Result<std::vector<ArchivedTicket>> RelationalTransaction::find_archived(
    std::span<const TaskId> ids) {
  Values values;
  fill_list(values, ids, [](Values& list, const TaskId& id) { list.id(id.value); });
  std::vector<ArchivedTicket> found;
  const Result<> asked = connection().query(
      "SELECT id, fence, lease, state FROM recourse_archive WHERE id IN " + list_of(ids.size()),
      values.view(), [&](const sql::Row& row) {
        found.push_back(
            {.task = TaskId(read_ulid(row.bytes(0))),
             .ticket = {task::Fence(row.integer(1)), task::LeaseId(read_ulid(row.bytes(2)))},
             .state = read_state(row.bytes(3))});
      });
  if (!asked) return fail(asked.error());
  return found;
}

Result<> RelationalTransaction::remove_tasks(std::span<const TaskId> ids) {
  Values values;
  fill_list(values, ids, [](Values& list, const TaskId& id) { list.id(id.value); });
  const auto gone =
      connection().execute("DELETE FROM recourse_task WHERE id IN " + list_of(ids.size()) +
                               std::string(seat_.dialect.after_delete),
                           values.view());
  return gone ? Result<>{} : fail(gone.error());
}

}  // namespace recourse::store::relational

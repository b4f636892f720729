#include <algorithm>
#include <map>
#include <utility>

#include "store/relational/transaction.h"

namespace recourse::store::relational {

using task::Task;
using task::TaskId;

Result<std::vector<Task>> RelationalTransaction::tasks_of(std::string_view statement,
                                                          const Values& values) {
  std::vector<Task> tasks;
  const Result<> asked = connection().query(
      statement, values.view(), [&](const sql::Row& row) { tasks.push_back(read_task(row)); });
  if (!asked) return fail(asked.error());
  return tasks;
}

Result<std::vector<TaskId>> RelationalTransaction::ids_of(std::string_view statement,
                                                          const Values& values) {
  std::vector<TaskId> ids;
  const Result<> asked = connection().query(statement, values.view(), [&](const sql::Row& row) {
    ids.emplace_back(read_ulid(row.bytes(0)));
  });
  if (!asked) return fail(asked.error());
  return ids;
}

Result<> RelationalTransaction::delete_by_id(std::string_view statement,
                                             std::span<const TaskId> ids) {
  Values values;
  fill_list(values, ids, [](Values& list, const TaskId& id) { list.id(id.value); });
  const auto deleted =
      connection().execute(std::string(statement) + list_of(ids.size()), values.view());
  return deleted ? Result<>{} : fail(deleted.error());
}

Result<std::vector<Task>> RelationalTransaction::locked(std::span<const TaskId> ids,
                                                        bool with_payload) {
  Values values;
  fill_list(values, ids, [](Values& list, const TaskId& id) { list.id(id.value); });
  return tasks_of("SELECT " + task_columns(with_payload) + " FROM " +
                      std::string(seat_.dialect.task_by_id) + " WHERE id IN " +
                      list_of(ids.size()) + " ORDER BY id" + std::string(seat_.dialect.for_update),
                  values);
}

Result<std::vector<Task>> RelationalTransaction::lock(std::span<const TaskId> ids) {
  return locked(ids, false);
}

Result<std::vector<Task>> RelationalTransaction::peek(std::span<const TaskId> ids) {
  Values values;
  fill_list(values, ids, [](Values& list, const TaskId& id) { list.id(id.value); });
  return tasks_of("SELECT " + task_columns(false) + " FROM " +
                      std::string(seat_.dialect.task_by_id) + " WHERE id IN " + list_of(ids.size()),
                  values);
}

Result<std::vector<bool>> RelationalTransaction::write_moves(
    std::span<const task::Transition* const> moves) {
  std::vector<TaskId> ids;
  for (const task::Transition* move : moves) ids.push_back(move->task);
  auto rows = locked(ids, false);
  if (!rows) return fail(rows.error());
  std::map<TaskId, Task> found;
  for (Task& row : *rows) found[row.id] = std::move(row);
  std::vector<bool> done;
  std::vector<Task> changed;
  for (const task::Transition* move : moves) {
    const auto row = found.find(move->task);
    done.push_back(row != found.end() && task::applies_as_it_is(row->second, *move));
    if (done.back()) changed.push_back(task::apply(std::move(row->second), *move));
  }
  if (changed.empty()) return done;
  if (Result<> written = write_rows(changed); !written) return fail(written.error());
  return done;
}

Result<std::vector<bool>> RelationalTransaction::write_finishes(std::span<const Finish> finishes) {
  std::vector<TaskId> ids;
  for (const Finish& finish : finishes) ids.push_back(finish.transition->task);
  // Locked before they are copied: a copy alone would not keep others from changing the row.
  auto rows = locked(ids, true);
  if (!rows) return fail(rows.error());
  std::map<TaskId, Task> found;
  for (Task& row : *rows) found[row.id] = std::move(row);
  std::vector<bool> done;
  std::vector<Finished> finished;
  for (const Finish& finish : finishes) {
    const task::Transition& move = *finish.transition;
    const auto row = found.find(move.task);
    done.push_back(row != found.end() && task::applies_as_it_is(row->second, move));
    if (!done.back()) continue;
    finished.push_back(
        {.task = task::apply(std::move(row->second), move), .expires_at = finish.expires_at});
  }
  if (finished.empty()) return done;
  if (Result<> moved = add_to_archive(finished); !moved) return fail(moved.error());
  if (Result<> gone = remove_finished(finished); !gone) return fail(gone.error());
  return done;
}

Result<> RelationalTransaction::write_rows(std::span<const Task> tasks) {
  Values values;
  values.reserve(tasks.size() * kUpdateTaskColumns);
  for (const Task& task : tasks) add_changed_task(values, task);
  const auto written = connection().execute_many(kUpdateTask, kUpdateTaskColumns, values.view());
  return written ? Result<>{} : fail(written.error());
}

Result<> RelationalTransaction::write_payload(TaskId id, std::string_view payload) {
  Values values;
  values.bytes(payload).id(id.value);
  const auto written =
      connection().execute("UPDATE recourse_task SET payload = ? WHERE id = ?", values.view());
  return written ? Result<>{} : fail(written.error());
}

Result<> RelationalTransaction::archive_rows(std::span<const Finished> tasks) {
  std::map<TaskId, Finished> by_id;
  std::vector<TaskId> ids;
  for (const Finished& finished : tasks) {
    by_id[finished.task.id] = finished;
  }
  for (const auto& [id, finished] : by_id) ids.push_back(id);
  auto rows = locked(ids, true);
  if (!rows) return fail(rows.error());
  std::vector<Finished> whole;
  for (Task& row : *rows) {
    Finished& finished = by_id.at(row.id);
    finished.task.spec.payload = std::move(row.spec.payload);
    whole.push_back(std::move(finished));
  }
  if (Result<> moved = add_to_archive(whole); !moved) return moved;
  return remove_finished(whole);
}

Result<> RelationalTransaction::release_keys_of(std::span<const Finish> finishes,
                                                const std::vector<bool>& done) {
  std::vector<task::Account> accounts;
  for (std::size_t i = 0; i < finishes.size(); ++i) {
    const task::Account& account = finishes[i].transition->account;
    if (done[i] && !account.unique_key.value.empty()) accounts.push_back(account);
  }
  if (accounts.empty()) return {};
  std::ranges::sort(accounts);
  return release_keys(accounts);
}

Result<> RelationalTransaction::add_to_archive(std::span<const Finished> tasks) {
  Values values;
  values.reserve(tasks.size() * kInsertArchiveColumns);
  std::vector<task::Account> accounts;
  for (const Finished& finished : tasks) {
    add_archived_task(values, finished.task, finished.expires_at);
    if (!finished.task.spec.unique_key.value.empty()) {
      accounts.push_back(task::account_of(finished.task.spec));
    }
  }
  const auto copied =
      connection().execute_many(kInsertArchive, kInsertArchiveColumns, values.view());
  if (!copied) return fail(copied.error());
  if (accounts.empty()) return {};
  std::ranges::sort(accounts);
  return release_keys(accounts);
}

Result<> RelationalTransaction::remove_finished(std::span<const Finished> tasks) {
  std::vector<TaskId> ids;
  ids.reserve(tasks.size());
  for (const Finished& finished : tasks) ids.push_back(finished.task.id);
  return remove_tasks(ids);
}

Result<std::vector<bool>> RelationalTransaction::write_starts(std::span<const Held> held) {
  return write_held("UPDATE recourse_task SET start_mark = 2 WHERE id = ?", Values(), held);
}

Result<std::vector<bool>> RelationalTransaction::write_lease_ends(std::span<const Held> held,
                                                                  TimePoint end) {
  Values first;
  first.time(end).time(end);
  return write_held("UPDATE recourse_task SET lease_end = ?, available_at = ? WHERE id = ?", first,
                    held);
}

Result<std::vector<bool>> RelationalTransaction::write_held(std::string_view statement,
                                                            const Values& first,
                                                            std::span<const Held> held) {
  std::vector<TaskId> ids;
  for (const Held& item : held) ids.push_back(item.task);
  std::ranges::sort(ids);
  const auto rows = locked(ids, false);
  if (!rows) return fail(rows.error());
  std::map<TaskId, const Task*> found;
  for (const Task& row : *rows) found[row.id] = &row;
  std::vector<bool> done;
  std::vector<sql::Value> values;
  for (const Held& item : held) {
    const auto row = found.find(item.task);
    const bool ok = row != found.end() && row->second->ticket == item.ticket &&
                    row->second->state == task::State::kRunning &&
                    (first.empty() || row->second->lease_end);
    done.push_back(ok);
    if (!ok) continue;
    std::ranges::copy(first.view(), std::back_inserter(values));
    values.emplace_back(sql::Bytes{{reinterpret_cast<const char*>(item.task.value.bytes.data()),
                                    item.task.value.bytes.size()}});
  }
  if (values.empty()) return done;
  const auto written = connection().execute_many(statement, first.view().size() + 1, values);
  if (!written) return fail(written.error());
  return done;
}

}  // namespace recourse::store::relational

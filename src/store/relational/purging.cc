#include <algorithm>
#include <utility>

#include "store/relational/transaction.h"

namespace recourse::store::relational {

using task::TaskId;

// What one table has of it.
Result<std::vector<Transaction::Purgeable>> RelationalTransaction::lock_old(
    std::string_view rows_where, Values values, const PurgeRequest& request, std::size_t limit) {
  std::vector<Purgeable> rows;
  std::string statement = "SELECT id, kind, state FROM ";
  statement += rows_where;
  if (request.kind) {
    statement += " AND kind = ?";
    values.text(request.kind->value);
  }
  values.integer(static_cast<std::int64_t>(limit));
  statement.append(request.states.empty() ? " ORDER BY expires_at" : " ORDER BY id")
      .append(" LIMIT ?")
      .append(seat_.dialect.skip_locked);
  const Result<> asked = connection().query(statement, values.view(), [&](const sql::Row& row) {
    rows.push_back({.task = TaskId(read_ulid(row.bytes(0))),
                    .kind = task::Kind(std::string(row.bytes(1))),
                    .state = read_state(row.bytes(2))});
  });
  if (!asked) return fail(asked.error());
  return rows;
}

Result<std::vector<Transaction::Purgeable>> RelationalTransaction::lock_purgeable(
    const PurgeRequest& request) {
  if (request.states.empty()) {
    const Result<TimePoint> at = now();
    if (!at) return fail(at.error());
    Values values;
    values.time(*at);
    return lock_old("recourse_archive WHERE expires_at <= ?", std::move(values), request,
                    request.limit);
  }
  std::vector<Purgeable> rows;
  for (const task::State state : request.states) {
    if (rows.size() == request.limit) break;
    Values values;
    values.text(task::to_string(state)).time(*request.ended_before);
    const std::string_view where = task::needs_person(state)
                                       ? "recourse_task WHERE parked = ? AND ended_at < ?"
                                       : "recourse_archive WHERE state = ? AND ended_at < ?";
    auto old = lock_old(where, std::move(values), request, request.limit - rows.size());
    if (!old) return old;
    std::ranges::move(*old, std::back_inserter(rows));
  }
  return rows;
}

// What is kept by a key of its own is found through the rows.
Result<> RelationalTransaction::forget_keys(std::span<const TaskId> ids, bool live) {
  Values list;
  fill_list(list, ids, [](Values& values, const TaskId& id) { values.id(id.value); });
  const auto tasks = tasks_of("SELECT " + (live ? task_columns(false) : archive_columns()) +
                                  " FROM " + (live ? "recourse_task" : "recourse_archive") +
                                  " WHERE id IN " + list_of(ids.size()),
                              list);
  if (!tasks) return fail(tasks.error());
  Values entries;
  std::vector<task::Account> accounts;
  for (const task::Task& task : *tasks) {
    for (const auto& [name, value] : task.spec.search_keys) {
      entries.kept_bytes(search_entry(name, value)).id(task.id.value);
    }
    if (live && !task.spec.unique_key.value.empty()) {
      accounts.push_back(task::account_of(task.spec));
    }
  }
  std::ranges::sort(accounts);
  if (!accounts.empty()) {
    if (Result<> freed = release_keys(accounts); !freed) return freed;
  }
  if (entries.empty()) return {};
  const auto gone = connection().execute_many(
      "DELETE FROM recourse_search WHERE entry = ? AND task_id = ?", 2, entries.view());
  return gone ? Result<>{} : fail(gone.error());
}

Result<> RelationalTransaction::forget(std::span<const TaskId> ids) {
  for (const bool live : {true, false}) {
    if (Result<> gone = forget_keys(ids, live); !gone) return gone;
  }
  for (const std::string_view table :
       {"recourse_attempt", "recourse_audit", "recourse_case", "recourse_note"}) {
    const std::string statement = "DELETE FROM " + std::string(table) + " WHERE task_id IN ";
    if (Result<> gone = delete_by_id(statement, ids); !gone) return gone;
  }
  // In the order of ids: a scan would wait for rows that others hold.
  Values list;
  fill_list(list, ids, [](Values& values, const TaskId& id) { values.id(id.value); });
  const auto gone =
      connection().execute("DELETE FROM recourse_archive WHERE id IN " + list_of(ids.size()) +
                               std::string(seat_.dialect.after_delete),
                           list.view());
  return gone ? remove_tasks(ids) : fail(gone.error());
}

}  // namespace recourse::store::relational

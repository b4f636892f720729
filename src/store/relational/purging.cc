#include <algorithm>
#include <utility>

#include "store/relational/transaction.h"

namespace recourse::store::relational {

using task::TaskId;

Result<std::vector<Transaction::Purgeable>> RelationalTransaction::lock_purgeable(
    const PurgeRequest& request) {
  std::vector<Purgeable> rows;
  const auto collect = [&](const std::string& statement, Values& values) -> Result<> {
    if (rows.size() >= request.limit) return {};
    values.integer(static_cast<std::int64_t>(request.limit - rows.size()));
    return connection().query(statement + std::string(seat_.dialect.skip_locked), values.view(),
                              [&](const sql::Row& row) {
                                rows.push_back({.task = TaskId(read_ulid(row.bytes(0))),
                                                .kind = task::Kind(std::string(row.bytes(1))),
                                                .state = read_state(row.bytes(2))});
                              });
  };
  const std::string of_kind = request.kind ? " AND kind = ?" : "";
  const auto add_kind = [&](Values& values) {
    if (request.kind) values.text(request.kind->value);
  };
  if (request.states.empty()) {
    const Result<TimePoint> at = now();
    if (!at) return fail(at.error());
    Values values;
    values.time(*at);
    add_kind(values);
    const Result<> expired =
        collect("SELECT id, kind, state FROM recourse_archive WHERE expires_at <= ?" + of_kind +
                    " ORDER BY expires_at LIMIT ?",
                values);
    if (!expired) return fail(expired.error());
    return rows;
  }
  for (const task::State state : request.states) {
    const bool live = task::needs_person(state);
    Values values;
    values.text(task::to_string(state)).time(*request.ended_before);
    add_kind(values);
    const Result<> old =
        collect(std::string("SELECT id, kind, state FROM ") +
                    (live ? "recourse_task WHERE parked = ?" : "recourse_archive WHERE state = ?") +
                    " AND ended_at < ?" + of_kind + " ORDER BY id LIMIT ?",
                values);
    if (!old) return fail(old.error());
  }
  return rows;
}

Result<> RelationalTransaction::forget(std::span<const TaskId> ids) {
  Values list;
  fill_list(list, ids, [](Values& values, const TaskId& id) { values.id(id.value); });
  const std::string marks = list_of(ids.size());
  // What is kept by a key of its own is found through the rows.
  Values entries;
  std::vector<task::Account> accounts;
  for (const bool live : {true, false}) {
    const std::string columns = live ? task_columns(false) : archive_columns();
    const auto tasks =
        tasks_of("SELECT " + columns + " FROM " + (live ? "recourse_task" : "recourse_archive") +
                     " WHERE id IN " + marks,
                 list);
    if (!tasks) return fail(tasks.error());
    for (const task::Task& task : *tasks) {
      for (const auto& [name, value] : task.spec.search_keys) {
        entries.kept_bytes(search_entry(name, value))
            .kept_bytes(std::string(task.id.value.bytes.begin(), task.id.value.bytes.end()));
      }
      if (live && !task.spec.unique_key.value.empty()) {
        accounts.push_back(task::account_of(task.spec));
      }
    }
  }
  if (!accounts.empty()) {
    std::ranges::sort(accounts);
    if (Result<> freed = release_keys(accounts); !freed) return freed;
  }
  if (!entries.empty()) {
    const auto gone = connection().execute_many(
        "DELETE FROM recourse_search WHERE entry = ? AND task_id = ?", 2, entries.view());
    if (!gone) return fail(gone.error());
  }
  for (const std::string_view statement :
       {"DELETE FROM recourse_attempt WHERE task_id IN ",
        "DELETE FROM recourse_audit WHERE task_id IN ", "DELETE FROM recourse_archive WHERE id IN ",
        "DELETE FROM recourse_task WHERE id IN "}) {
    if (Result<> gone = delete_by_id(statement, ids); !gone) return gone;
  }
  return {};
}

}  // namespace recourse::store::relational

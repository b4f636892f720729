#include "store/sqlite/transaction.h"

#include <algorithm>

namespace recourse::store::sqlite {
namespace {

using relational::Values;
using task::Transition;

// The row stays inside the database: only what the transition changes is handed in.
constexpr std::string_view kCopyToArchive =
    "INSERT INTO recourse_archive (id, kind, tenant, shard_key, unique_key, priority, payload,"
    " headers, trace_parent, search_keys, max_retries, timeout_us, deadline_at, backoff,"
    " created_at, due_at, state, retries, attempts, episode, first_started_at, deaths, fence,"
    " lease, error_code, error_message, ended_at, ended_by, expires_at)"
    " SELECT id, kind, tenant, shard_key, unique_key, priority, payload, headers, trace_parent,"
    " search_keys, max_retries, timeout_us, ?, backoff, created_at, ?, ?, ?, ?, ?, ?, ?, fence + 1,"
    " ?, ?, ?, ?, owner, ? FROM recourse_task"
    " WHERE id = ? AND fence = ? AND lease = ? AND state = ? AND requested IS NULL";

Values copy_values(const Finish& finish, const Ulid& next_lease) {
  const Transition& change = finish.transition;
  Values values;
  values.time(change.deadline)
      .time(change.due_at)
      .text(task::to_string(change.to))
      .integer(change.retries)
      .integer(change.attempts)
      .integer(change.episode)
      .time(change.first_started_at)
      .integer(change.deaths)
      .id(next_lease);
  if (change.error) {
    values.text(change.error->code).text(change.error->message);
  } else {
    values.null().null();
  }
  values.time(change.at)
      .time(finish.expires_at)
      .id(change.task.value)
      .integer(change.ticket.fence.value)
      .id(change.ticket.lease.value)
      .text(task::to_string(change.from));
  return values;
}

}  // namespace

Result<std::vector<bool>> SqliteTransaction::write_finishes(std::span<const Finish> finishes) {
  constexpr Ulid kNoLease;
  std::vector<bool> done;
  Values gone;
  std::vector<task::Account> accounts;
  for (const Finish& finish : finishes) {
    const Transition& change = finish.transition;
    const Values values =
        copy_values(finish, change.ends_lease ? kNoLease : change.ticket.lease.value);
    const auto copied = connection().execute(kCopyToArchive, values.view());
    if (!copied) return fail(copied.error());
    done.push_back(*copied == 1);
    if (!done.back()) continue;
    gone.id(change.task.value);
    if (!change.account.unique_key.value.empty()) accounts.push_back(change.account);
  }
  if (gone.empty()) return done;
  const auto deleted =
      connection().execute_many("DELETE FROM recourse_task WHERE id = ?", 1, gone.view());
  if (!deleted) return fail(deleted.error());
  if (accounts.empty()) return done;
  std::ranges::sort(accounts);
  if (Result<> freed = release_keys(accounts); !freed) return fail(freed.error());
  return done;
}

}  // namespace recourse::store::sqlite

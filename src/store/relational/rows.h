// Tasks as rows: the columns, in one order, and both ways between them and a Task.
//
// `recourse_task` holds live work, `recourse_archive` what is finished. Both have the columns of
// the submission and of where the task stands; the rest differs.
#pragma once

#include <string>
#include <string_view>

#include "sql/value.h"
#include "store/history.h"
#include "store/node.h"
#include "store/relational/values.h"
#include "store/transaction.h"
#include "task/record.h"

namespace recourse::store::relational {

// For reading. `payload` is read as empty where nobody needs it.
// `table` with its dot goes before each name where several tables are read.
std::string task_columns(bool with_payload, std::string_view table = "");
inline constexpr std::size_t kTaskColumns = 32;
std::string archive_columns();
task::Task read_task(const sql::Row& row);

// For inserting a live row.
inline constexpr std::string_view kInsertTask =
    "INSERT INTO recourse_task (id, kind, tenant, shard_key, unique_key, priority, payload, "
    "headers,"
    " trace_parent, search_keys, max_retries, timeout_us, deadline_at, backoff, created_at, shard,"
    " due_at, state, available_at, fence, lease, owner)"
    " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)";
inline constexpr std::size_t kInsertTaskColumns = 22;
void add_new_task(Values& values, const NewTask& born, TimePoint now);

// Everything that may change, by id.
inline constexpr std::string_view kUpdateTask =
    "UPDATE recourse_task SET deadline_at = ?, due_at = ?, state = ?, parked = ?, available_at = ?,"
    " retries = ?, attempts = ?, episode = ?, first_started_at = ?, start_mark = ?, deaths = ?,"
    " fence = ?, lease = ?, owner = ?, lease_end = ?, requested = ?, error_code = ?,"
    " error_message = ?, ended_at = ? WHERE id = ?";
inline constexpr std::size_t kUpdateTaskColumns = 20;
void add_changed_task(Values& values, const task::Task& task);

// Values: when it becomes available, lease, owner, the lease's end.
// The state after those who look at it: MariaDB assigns from left to right.
inline constexpr std::string_view kSetClaimed =
    " SET deaths = deaths + CASE WHEN state = 'running' AND start_mark = 2 THEN 1 ELSE 0 END,"
    " start_mark = CASE WHEN state = 'running' THEN 1 ELSE start_mark END,"
    " state = 'running', available_at = ?, fence = fence + 1, lease = ?, owner = ?, lease_end = ?";

inline constexpr std::string_view kInsertArchive =
    "INSERT INTO recourse_archive (id, kind, tenant, shard_key, unique_key, priority, payload,"
    " headers, trace_parent, search_keys, max_retries, timeout_us, deadline_at, backoff, "
    "created_at,"
    " due_at, state, retries, attempts, episode, first_started_at, deaths, fence, lease, "
    "error_code,"
    " error_message, ended_at, ended_by, expires_at)"
    " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?,"
    " ?)";
inline constexpr std::size_t kInsertArchiveColumns = 29;
void add_archived_task(Values& values, const task::Task& task, TimePoint expires_at);

// Held back until a person or a decision lets it go on: found by an index of its own.
constexpr bool is_parked(task::State state) {
  return task::needs_person(state) || state == task::State::kPaused;
}

// One binary key, so that no collation and no padding merges two of them. The parts are plain text,
// which has no NUL.
std::string key_of(const task::Account& account);
std::string search_entry(std::string_view name, std::string_view value);

// `{"name": "value"}`, empty for none.
std::string to_json(const std::map<std::string, std::string>& entries);
std::string to_json(const std::vector<task::Kind>& kinds);

Ulid read_ulid(std::string_view bytes);
TimePoint read_time(std::int64_t microseconds);
std::optional<TimePoint> read_time(const sql::Row& row, std::size_t column);
std::vector<task::Kind> read_kinds(std::string_view json);
task::State read_state(std::string_view name);
task::Move read_move(std::string_view name);

}  // namespace recourse::store::relational

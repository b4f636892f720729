#include "store/relational/reader.h"

#include <algorithm>
#include <map>
#include <utility>

#include "store/batch.h"

namespace recourse::store::relational {
namespace {

using task::Task;
using task::TaskId;

// Live and finished through one statement, so that a task on its way to the archive is never
// missed.
Result<std::vector<Task>> find_all(sql::Connection& connection, std::span<const TaskId> ids) {
  Values values;
  const auto add = [](Values& list, const TaskId& id) { list.id(id.value); };
  fill_list(values, ids, add);
  fill_list(values, ids, add);
  const std::string marks = list_of(ids.size());
  std::vector<Task> tasks;
  const Result<> asked = connection.query(
      "SELECT " + task_columns(true) + " FROM recourse_task WHERE id IN " + marks +
          " UNION ALL SELECT " + archive_columns() + " FROM recourse_archive WHERE id IN " + marks,
      values.view(), [&](const sql::Row& row) { tasks.push_back(read_task(row)); });
  if (!asked) return fail(asked.error());
  std::ranges::sort(tasks, std::greater{}, &Task::id);
  return tasks;
}

Attempt read_attempt(TaskId id, const sql::Row& row) {
  Attempt attempt;
  attempt.task = id;
  attempt.fence = task::Fence(row.integer(0));
  attempt.number = static_cast<int>(row.integer(1));
  attempt.started_at = read_time(row.integer(2));
  attempt.ended_at = read_time(row.integer(3));
  attempt.owner = row.bytes(4);
  attempt.decision = read_move(row.bytes(5));
  if (!row.is_null(6)) {
    attempt.error = task::Reason{std::string(row.bytes(6)), std::string(row.bytes(7))};
  }
  attempt.next_due = read_time(row, 8);
  return attempt;
}

Note read_note(TaskId id, const sql::Row& row) {
  Note note;
  note.task = id;
  note.fence = task::Fence(row.integer(0));
  note.number = static_cast<int>(row.integer(1));
  note.attempt = static_cast<int>(row.integer(2));
  note.at = read_time(row.integer(3));
  if (!row.is_null(4)) note.progress = static_cast<int>(row.integer(4));
  note.text = row.bytes(5);
  return note;
}

AuditEntry read_audit(const sql::Row& row) {
  AuditEntry entry;
  entry.at = read_time(row.integer(1));
  if (!row.is_null(2)) entry.task = TaskId(read_ulid(row.bytes(2)));
  entry.actor = row.bytes(3);
  entry.action = row.bytes(4);
  entry.detail = row.bytes(5);
  entry.fence = task::Fence(row.integer(6));
  return entry;
}

NodeRow read_node(const sql::Row& row) {
  NodeRow node;
  node.info.incarnation = task::Incarnation(read_ulid(row.bytes(0)));
  node.info.name = row.bytes(1);
  node.info.kinds = read_kinds(row.bytes(2));
  node.started_at = read_time(row.integer(3));
  node.beat = row.integer(4);
  node.beat_at = read_time(row.integer(5));
  node.dead = row.integer(6) != 0;
  node.pauses_seen = row.integer(7);
  return node;
}

}  // namespace

Result<Pauses> read_pauses(sql::Connection& connection) {
  Pauses pauses;
  // The number first: a list that is newer than its number is confirmed late, never early.
  Result<> asked = connection.query("SELECT value FROM recourse_meta WHERE name = 'pauses'", {},
                                    [&](const sql::Row& row) { pauses.version = row.integer(0); });
  if (!asked) return fail(asked.error());
  asked = connection.query(
      "SELECT kind FROM recourse_pause ORDER BY kind", {},
      [&](const sql::Row& row) { pauses.kinds.emplace_back(std::string(row.bytes(0))); });
  if (!asked) return fail(asked.error());
  return pauses;
}

Result<Task> RelationalReader::find(TaskId id, Duration within) {
  std::vector<Task> found;
  const Result<> read = line_.read(within, [&](sql::Connection& connection) -> Result<> {
    auto tasks = find_all(connection, {&id, 1});
    if (!tasks) return fail(tasks.error());
    found = std::move(*tasks);
    return {};
  });
  if (!read) return fail(read.error());
  if (found.empty()) return fail(ErrorCode::kNotFound, task::to_string(id) + " does not exist");
  return std::move(found.front());
}

Result<TaskPage> RelationalReader::list(const Filter& filter, std::optional<TaskId> after,
                                        std::size_t limit, Duration within) {
  if (Result<> valid = check_page(limit); !valid) return fail(valid.error());
  TaskPage page;
  const Result<> read = line_.read(within, [&](sql::Connection& connection) -> Result<> {
    page = {};
    const auto found = find_everywhere(
        connection, {.filter = filter, .as_of = std::nullopt, .after = after, .limit = limit + 1});
    if (!found) return fail(found.error());
    std::vector<TaskId> ids = found->ids;
    page.next = found->next;
    if (ids.size() > limit) {
      ids.resize(limit);
      page.next = ids.back();
    }
    if (ids.empty()) return {};
    auto tasks = find_all(connection, ids);
    if (!tasks) return fail(tasks.error());
    page.tasks = std::move(*tasks);
    return {};
  });
  if (!read) return fail(read.error());
  return page;
}

Result<std::vector<Attempt>> RelationalReader::attempts(TaskId id, Duration within) {
  std::vector<Attempt> attempts;
  const Result<> read = line_.read(within, [&](sql::Connection& connection) {
    attempts.clear();
    Values values;
    values.id(id.value);
    return connection.query(
        "SELECT fence, number, started_at, ended_at, owner, decision, error_code, error_message,"
        " next_due FROM recourse_attempt WHERE task_id = ? ORDER BY fence",
        values.view(), [&](const sql::Row& row) { attempts.push_back(read_attempt(id, row)); });
  });
  if (!read) return fail(read.error());
  return attempts;
}

Result<std::vector<Note>> RelationalReader::notes(TaskId id, Duration within) {
  std::vector<Note> notes;
  const Result<> read = line_.read(within, [&](sql::Connection& connection) {
    notes.clear();
    Values values;
    values.id(id.value);
    return connection.query(
        "SELECT fence, number, attempt, at, progress, said FROM recourse_note WHERE task_id = ?"
        " ORDER BY fence, number",
        values.view(), [&](const sql::Row& row) { notes.push_back(read_note(id, row)); });
  });
  if (!read) return fail(read.error());
  return notes;
}

Result<AuditPage> RelationalReader::audit(std::optional<TaskId> id,
                                          std::optional<std::int64_t> after, std::size_t limit,
                                          Duration within) {
  if (Result<> valid = check_page(limit); !valid) return fail(valid.error());
  AuditPage page;
  const Result<> read = line_.read(within, [&](sql::Connection& connection) {
    page = {};
    Values values;
    if (id) values.id(id->value);
    values.integer(after.value_or(INT64_MAX)).integer(static_cast<std::int64_t>(limit) + 1);
    std::int64_t last = 0;
    return connection.query(
        std::string("SELECT seq, at, task_id, actor, action, detail, fence FROM recourse_audit") +
            (id ? " WHERE task_id = ? AND seq < ?" : " WHERE seq < ?") +
            " ORDER BY seq DESC LIMIT ?",
        values.view(), [&](const sql::Row& row) {
          if (page.entries.size() == limit) {
            page.next = last;
            return;
          }
          last = row.integer(0);
          page.entries.push_back(read_audit(row));
        });
  });
  if (!read) return fail(read.error());
  return page;
}

Result<Counts> RelationalReader::counts(Duration within) {
  Counts counts;
  const Result<> read = line_.read(within, [&](sql::Connection& connection) {
    counts.clear();
    return connection.query(
        "SELECT kind, state, n FROM recourse_counter", {}, [&](const sql::Row& row) {
          counts[{task::Kind(std::string(row.bytes(0))), read_state(row.bytes(1))}] +=
              row.integer(2);
        });
  });
  if (!read) return fail(read.error());
  std::erase_if(counts, [](const auto& entry) { return entry.second == 0; });
  return counts;
}

Result<Backlog> RelationalReader::backlog(const task::Kind& kind, Duration within) {
  Backlog backlog;
  const Result<> read = line_.read(within, [&](sql::Connection& connection) -> Result<> {
    backlog = {};
    const Result<TimePoint> now = line_.now(connection);
    if (!now) return fail(now.error());
    for (int priority = task::kPriorityMax; priority >= 0; --priority) {
      Values values;
      values.text(kind.value).integer(priority).time(*now);
      values.integer(static_cast<std::int64_t>(kBacklogCountMax + 1 - backlog.due));
      const Result<> asked = connection.query(
          "SELECT COUNT(*), MIN(available_at) FROM (SELECT available_at FROM recourse_task"
          " WHERE kind = ? AND priority = ? AND available_at <= ? ORDER BY available_at LIMIT ?)"
          " due",
          values.view(), [&](const sql::Row& row) {
            backlog.due += static_cast<std::size_t>(row.integer(0));
            const auto oldest = read_time(row, 1);
            if (oldest && (!backlog.oldest_due || *oldest < *backlog.oldest_due)) {
              backlog.oldest_due = oldest;
            }
          });
      if (!asked) return asked;
      // One more than there is room for is always asked for, so that the oldest of every priority
      // is seen.
      backlog.more = backlog.more || backlog.due > kBacklogCountMax;
      backlog.due = std::min(backlog.due, kBacklogCountMax);
    }
    return {};
  });
  if (!read) return fail(read.error());
  return backlog;
}

Result<std::vector<NodeRow>> RelationalReader::nodes(Duration within) {
  std::vector<NodeRow> nodes;
  const Result<> read = line_.read(within, [&](sql::Connection& connection) {
    nodes.clear();
    return connection.query(
        "SELECT incarnation, name, kinds, started_at, beat, beat_at, dead, pauses_seen"
        " FROM recourse_node ORDER BY incarnation",
        {}, [&](const sql::Row& row) { nodes.push_back(read_node(row)); });
  });
  if (!read) return fail(read.error());
  return nodes;
}

Result<Pauses> RelationalReader::pauses(Duration within) {
  Pauses pauses;
  const Result<> read = line_.read(within, [&](sql::Connection& connection) -> Result<> {
    Result<Pauses> found = read_pauses(connection);
    if (!found) return fail(found.error());
    pauses = std::move(*found);
    return {};
  });
  if (!read) return fail(read.error());
  return pauses;
}

Result<std::vector<Held>> RelationalReader::held_by(const task::Owner& owner,
                                                    std::optional<TaskId> after, std::size_t limit,
                                                    Duration within) {
  if (Result<> valid = check_page(limit); !valid) return fail(valid.error());
  std::vector<Held> held;
  const std::string name = task::to_string(owner);
  const TaskId start = after.value_or(TaskId());
  const Result<> read = line_.read(within, [&](sql::Connection& connection) {
    held.clear();
    Values values;
    values.text(name).id(start.value).integer(static_cast<std::int64_t>(limit));
    return connection.query(
        "SELECT id, fence, lease FROM " + std::string(line_.dialect().task_by_owner) +
            " WHERE owner = ? AND id > ? ORDER BY id LIMIT ?",
        values.view(), [&](const sql::Row& row) {
          held.push_back(
              {.task = TaskId(read_ulid(row.bytes(0))),
               .ticket = {task::Fence(row.integer(1)), task::LeaseId(read_ulid(row.bytes(2)))}});
        });
  });
  if (!read) return fail(read.error());
  return held;
}

}  // namespace recourse::store::relational

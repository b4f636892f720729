// Nodes, pauses, the books and forgetting.
#include <algorithm>
#include <map>
#include <utility>

#include "store/relational/transaction.h"

namespace recourse::store::relational {
namespace {

using task::TaskId;

// Beyond this many rows of counts they are folded; each connection keeps one per kind and state.
constexpr std::int64_t kCountRowsMax = 1'000;
constexpr std::size_t kFoldedAtOnce = 500;

}  // namespace

Result<> RelationalTransaction::insert_node(const NodeInfo& node) {
  const Result<TimePoint> at = now();
  if (!at) return fail(at.error());
  Values id;
  id.id(node.incarnation.value);
  bool there = false;
  Result<> asked = connection().query("SELECT 1 FROM recourse_node WHERE incarnation = ?",
                                      id.view(), [&](const sql::Row&) { there = true; });
  if (!asked || there) return asked;
  const std::string kinds = to_json(node.kinds);
  Values values;
  values.id(node.incarnation.value).text(node.name).text(kinds).time(*at).time(*at);
  const auto inserted = connection().execute(
      "INSERT INTO recourse_node (incarnation, name, kinds, started_at, beat, beat_at, dead,"
      " pauses_seen) VALUES (?, ?, ?, ?, 0, ?, 0, 0)",
      values.view());
  return inserted ? Result<>{} : fail(inserted.error());
}

Result<bool> RelationalTransaction::beat(task::Incarnation node, std::int64_t pauses_seen) {
  const Result<TimePoint> at = now();
  if (!at) return fail(at.error());
  Values values;
  values.time(*at).integer(pauses_seen).id(node.value);
  const auto beaten = connection().execute(
      "UPDATE recourse_node SET beat = beat + 1, beat_at = ?, pauses_seen = ?"
      " WHERE incarnation = ? AND dead = 0",
      values.view());
  if (!beaten) return fail(beaten.error());
  return *beaten == 1;
}

Result<Transaction::Death> RelationalTransaction::mark_dead(task::Incarnation node,
                                                            std::int64_t beat_seen) {
  Values values;
  values.id(node.value).integer(beat_seen);
  const auto marked = connection().execute(
      "UPDATE recourse_node SET dead = 1 WHERE incarnation = ? AND dead = 0 AND beat = ?",
      values.view());
  if (!marked) return fail(marked.error());
  if (*marked == 1) return Death::kDeclared;
  bool alive = false;
  Values id;
  id.id(node.value);
  const Result<> asked =
      connection().query("SELECT dead FROM recourse_node WHERE incarnation = ?", id.view(),
                         [&](const sql::Row& row) { alive = row.integer(0) == 0; });
  if (!asked) return fail(asked.error());
  return alive ? Death::kAlive : Death::kAlready;
}

Result<std::vector<ControlRequest>> RelationalTransaction::requests_for(const task::Owner& owner) {
  const std::string name = task::to_string(owner);
  Values values;
  values.text(name).integer(static_cast<std::int64_t>(kRequestsPerBeat));
  std::vector<ControlRequest> requests;
  const Result<> asked =
      connection().query("SELECT id, requested FROM " + std::string(seat_.dialect.task_by_owner) +
                             " WHERE owner = ? AND requested IS NOT NULL LIMIT ?",
                         values.view(), [&](const sql::Row& row) {
                           requests.push_back({.task = TaskId(read_ulid(row.bytes(0))),
                                               .move = read_move(row.bytes(1))});
                         });
  if (!asked) return fail(asked.error());
  return requests;
}

Result<Pauses> RelationalTransaction::pauses() { return read_pauses(connection()); }

Result<std::int64_t> RelationalTransaction::set_pause(const task::Kind& kind, bool paused,
                                                      std::string_view by) {
  // The number first: its row makes two people take turns.
  const auto counted =
      connection().execute("UPDATE recourse_meta SET value = value + 1 WHERE name = 'pauses'", {});
  if (!counted) return fail(counted.error());
  Values values;
  values.text(kind.value);
  const auto cleared =
      connection().execute("DELETE FROM recourse_pause WHERE kind = ?", values.view());
  if (!cleared) return fail(cleared.error());
  if (paused) {
    values.text(by);
    const auto set = connection().execute(
        "INSERT INTO recourse_pause (kind, paused_by) VALUES (?, ?)", values.view());
    if (!set) return fail(set.error());
  }
  const Result<Pauses> now_paused = pauses();
  if (!now_paused) return fail(now_paused.error());
  return now_paused->version;
}

Result<> RelationalTransaction::add_counts(std::span<const CountChange> changes) {
  Values values;
  for (const CountChange& change : changes) {
    values.id(seat_.stripe)
        .text(change.kind.value)
        .text(task::to_string(change.state))
        .integer(change.by);
  }
  return connection().execute_later(seat_.dialect.add_count, 4, values.view());
}

Result<> RelationalTransaction::fold_counts() {
  std::int64_t rows = 0;
  Result<> asked = connection().query("SELECT COUNT(*) FROM recourse_counter", {},
                                      [&](const sql::Row& row) { rows = row.integer(0); });
  if (!asked || rows <= kCountRowsMax) return asked;
  std::map<std::pair<std::string, std::string>, std::int64_t> sums;
  std::deque<Ulid> stripes;
  Values gone;
  Values own;
  own.id(seat_.stripe).integer(kFoldedAtOnce);
  asked = connection().query(
      "SELECT stripe, kind, state, n FROM recourse_counter WHERE stripe <> ? LIMIT ?" +
          std::string(seat_.dialect.skip_locked),
      own.view(), [&](const sql::Row& row) {
        std::string kind(row.bytes(1));
        std::string state(row.bytes(2));
        gone.id(stripes.emplace_back(read_ulid(row.bytes(0)))).kept_text(kind).kept_text(state);
        sums[{std::move(kind), std::move(state)}] += row.integer(3);
      });
  if (!asked || gone.empty()) return asked;
  const auto deleted = connection().execute_many(
      "DELETE FROM recourse_counter WHERE stripe = ? AND kind = ? AND state = ?", 3, gone.view());
  if (!deleted) return fail(deleted.error());
  std::vector<CountChange> changes;
  for (const auto& [key, n] : sums) {
    changes.push_back({.kind = task::Kind(key.first), .state = read_state(key.second), .by = n});
  }
  return add_counts(changes);
}

Result<> RelationalTransaction::add_attempts(std::span<const Attempt> attempts) {
  Values rows;
  Values old;
  for (const Attempt& attempt : attempts) {
    rows.id(attempt.task.value)
        .integer(attempt.fence.value)
        .integer(attempt.number)
        .time(attempt.started_at)
        .time(attempt.ended_at)
        .text(attempt.owner)
        .text(task::to_string(attempt.decision));
    if (attempt.error) {
      rows.text(attempt.error->code).text(attempt.error->message);
    } else {
      rows.null().null();
    }
    rows.time(attempt.next_due);
    if (attempt.number > kAttemptsKept) {
      old.id(attempt.task.value).integer(attempt.number - kAttemptsKept);
    }
  }
  Result<> added = connection().execute_later(
      "INSERT INTO recourse_attempt (task_id, fence, number, started_at, ended_at, owner, decision,"
      " error_code, error_message, next_due) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
      10, rows.view());
  if (!added || old.empty()) return added;
  return connection().execute_later(
      "DELETE FROM recourse_attempt WHERE task_id = ? AND number <= ?", 2, old.view());
}

Result<> RelationalTransaction::add_audit(std::span<const AuditEntry> entries) {
  Values values;
  for (const AuditEntry& entry : entries) {
    values.time(entry.at);
    if (entry.task) {
      values.id(entry.task->value);
    } else {
      values.null();
    }
    values.text(entry.actor).text(entry.action).text(entry.detail).integer(entry.fence.value);
  }
  return connection().execute_later(
      "INSERT INTO recourse_audit (at, task_id, actor, action, detail, fence)"
      " VALUES (?, ?, ?, ?, ?, ?)",
      6, values.view());
}

}  // namespace recourse::store::relational

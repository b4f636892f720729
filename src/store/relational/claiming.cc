#include <algorithm>
#include <utility>

#include "store/relational/transaction.h"

namespace recourse::store::relational {
namespace {

// One kind and priority by equality, so that the index yields what is due, oldest first, and
// nothing else is looked at, however much is not due yet.
std::string probe(const Dialect& dialect, std::string_view columns, const ShardRange& shards) {
  std::string statement = "SELECT ";
  statement.append(columns).append(" FROM ").append(dialect.task_by_due);
  statement += " WHERE kind = ? AND priority = ? AND available_at >= ? AND available_at <= ?";
  if (!shards.is_all()) statement += " AND shard BETWEEN ? AND ?";
  return statement + " ORDER BY available_at LIMIT ?";
}

struct Times {
  TimePoint first;
  TimePoint now;
};

void add_probe(Values& values, const task::Kind& kind, int priority, const Times& times,
               const ShardRange& shards, std::size_t limit) {
  values.text(kind.value).integer(priority).time(times.first).time(times.now);
  if (!shards.is_all()) values.integer(shards.first).integer(shards.last);
  values.integer(static_cast<std::int64_t>(limit));
}

}  // namespace

Result<TimePoint> RelationalTransaction::claim_time() {
  if (claim_time_) return *claim_time_;
  const Result<TimePoint> at = now();
  if (at) claim_time_ = *at;
  return at;
}

Result<TakenBatch> RelationalTransaction::take_due(const ClaimRequest& request) {
  const Result<TimePoint> at = claim_time();
  if (!at) return fail(at.error());
  const std::string statement = probe(seat_.dialect, task_columns(true), request.shards) +
                                std::string(seat_.dialect.skip_locked);
  std::vector<task::Task> rows;
  for (const Quota& quota : request.quotas) {
    std::size_t room = std::min(static_cast<std::size_t>(quota.limit),
                                static_cast<std::size_t>(request.limit) - rows.size());
    if (room == 0) break;
    const Result<std::vector<int>> priorities = priorities_to_probe(quota.kind, *at);
    if (!priorities) return fail(priorities.error());
    for (const int priority : *priorities) {
      if (room == 0) break;
      Values values;
      add_probe(values, quota.kind, priority, {first_look(quota.kind, priority), *at},
                request.shards, room);
      auto found = tasks_of(statement, values);
      if (!found) return fail(found.error());
      room -= found->size();
      std::ranges::move(*found, std::back_inserter(rows));
    }
  }
  return write_claims(request, *at, std::move(rows));
}

Result<std::vector<Candidate>> RelationalTransaction::due_candidates(const task::Kind& kind,
                                                                     const ShardRange& shards,
                                                                     std::size_t window) {
  const Result<TimePoint> at = claim_time();
  if (!at) return fail(at.error());
  // All priorities in one question: on a server each question costs a way there and back.
  const std::string one = "SELECT * FROM (" +
                          probe(seat_.dialect, "id, tenant, priority, available_at", shards) +
                          ") AS probed";
  std::string statement;
  Values values;
  for (int priority = task::kPriorityMax; priority >= 0; --priority) {
    statement.append(statement.empty() ? "" : " UNION ALL ").append(one);
    add_probe(values, kind, priority, {first_look(kind, priority), *at}, shards, window);
  }
  std::vector<Candidate> found;
  const Result<> asked = connection().query(statement, values.view(), [&](const sql::Row& row) {
    found.push_back({.task = task::TaskId(read_ulid(row.bytes(0))),
                     .tenant = task::Tenant(std::string(row.bytes(1))),
                     .priority = static_cast<int>(row.integer(2)),
                     .available_at = read_time(row.integer(3))});
  });
  if (!asked) return fail(asked.error());
  return found;
}

Result<TakenBatch> RelationalTransaction::take(const ClaimRequest& request,
                                               std::span<const task::TaskId> ids) {
  const Result<TimePoint> at = claim_time();
  if (!at) return fail(at.error());
  Values values;
  fill_list(values, ids, [](Values& list, const task::TaskId& id) { list.id(id.value); });
  values.time(*at);
  // By id, whatever the planner thinks of the other index: the sum keeps it away.
  auto rows = tasks_of("SELECT " + task_columns(true) + " FROM " +
                           std::string(seat_.dialect.task_by_id) + " WHERE id IN " +
                           list_of(ids.size()) + " AND available_at + 0 <= ? ORDER BY id" +
                           std::string(seat_.dialect.skip_locked),
                       values);
  if (!rows) return fail(rows.error());
  return write_claims(request, *at, std::move(*rows));
}

Result<std::vector<int>> RelationalTransaction::priorities_to_probe(const task::Kind&, TimePoint) {
  std::vector<int> all;
  for (int priority = task::kPriorityMax; priority >= 0; --priority) all.push_back(priority);
  return all;
}

Result<TakenBatch> RelationalTransaction::write_claims(const ClaimRequest& request, TimePoint now,
                                                       std::vector<task::Task> rows) {
  TakenBatch batch{.now = now, .tasks = {}};
  if (rows.empty()) return batch;
  task::Claim claim{.owner = request.owner, .lease = request.lease, .lease_end = std::nullopt};
  if (request.lease_for) claim.lease_end = saturating_add(now, *request.lease_for);
  const std::string owner = task::to_string(claim.owner);
  std::vector<task::TaskId> ids;
  for (task::Task& row : rows) {
    Taken& taken = batch.tasks.emplace_back(
        Taken{.task = {}, .from = row.state, .owner = row.owner ? to_string(*row.owner) : ""});
    taken.task = task::apply(std::move(row), claim);
    ids.push_back(taken.task.id);
  }
  std::ranges::sort(ids);
  Values values;
  values.time(claim.lease_end.value_or(kNever)).id(request.lease.value).text(owner);
  values.time(claim.lease_end);
  fill_list(values, std::span<const task::TaskId>(ids),
            [](Values& list, const task::TaskId& id) { list.id(id.value); });
  // The state after those who look at it: MariaDB assigns from left to right.
  const auto done = connection().execute(
      "UPDATE " + std::string(seat_.dialect.task_by_id) +
          " SET deaths = deaths + CASE WHEN state = 'running' AND start_mark = 2 THEN 1 ELSE 0 END,"
          " start_mark = CASE WHEN state = 'running' THEN 1 ELSE start_mark END,"
          " state = 'running', available_at = ?, fence = fence + 1, lease = ?, owner = ?,"
          " lease_end = ? WHERE id IN " +
          list_of(ids.size()),
      values.view());
  if (!done) return fail(done.error());
  return batch;
}

}  // namespace recourse::store::relational

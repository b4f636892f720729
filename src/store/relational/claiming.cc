#include <algorithm>
#include <utility>

#include "store/relational/transaction.h"

namespace recourse::store::relational {
// One kind and priority by equality, so that the index yields what is due, oldest first, and
// nothing else is looked at, however much is not due yet.
std::string RelationalTransaction::probe_text(const Dialect& dialect, std::string_view columns,
                                              const ShardRange& shards) {
  std::string statement = "SELECT ";
  statement.append(columns).append(" FROM ").append(dialect.task_by_due);
  statement += " WHERE kind = ? AND priority = ? AND available_at >= ? AND available_at <= ?";
  if (!shards.is_all()) statement += " AND shard BETWEEN ? AND ?";
  return statement + " ORDER BY available_at LIMIT ?";
}

Result<> RelationalTransaction::add_probe(Values& values, const Probe& probe) {
  const Result<TimePoint> at = claim_time();
  if (!at) return fail(at.error());
  values.text(probe.kind->value).integer(probe.priority);
  values.time(first_look(*probe.kind, probe.priority)).time(*at);
  if (!probe.shards.is_all()) values.integer(probe.shards.first).integer(probe.shards.last);
  values.integer(static_cast<std::int64_t>(probe.found));
  return {};
}

Result<TimePoint> RelationalTransaction::claim_time() {
  if (claim_time_) return *claim_time_;
  const Result<TimePoint> at = now();
  if (at) claim_time_ = *at;
  return at;
}

Result<TakenBatch> RelationalTransaction::take_due(const ClaimRequest& request,
                                                   const Shares& shares) {
  std::vector<task::Task> rows;
  std::vector<Probe> probes;
  for (const Share& share : shares.kinds) {
    const std::size_t left = static_cast<std::size_t>(shares.limit) - rows.size();
    if (left == 0) break;
    const Result<std::vector<int>> priorities = due_priorities(share.kind);
    if (!priorities) return fail(priorities.error());
    const int most = priorities->size() <= 1 ? share.limit_alone : share.limit;
    std::size_t room = std::min(static_cast<std::size_t>(most), left);
    for (const int priority : *priorities) {
      if (room == 0) break;
      Probe& probe = probes.emplace_back(Probe{
          .kind = &share.kind, .priority = priority, .shards = request.shards, .found = room});
      auto found = lock_due(probe);
      if (!found) return fail(found.error());
      probe.found = found->size();
      room -= probe.found;
      rows.insert(rows.end(), std::move_iterator(found->begin()), std::move_iterator(found->end()));
    }
  }
  const Result<TimePoint> at = claim_time();
  if (!at) return fail(at.error());
  return write_claims(request, *at, std::move(rows), probes);
}

Result<std::vector<task::Task>> RelationalTransaction::lock_due(const Probe& probe) {
  Values values;
  if (Result<> added = add_probe(values, probe); !added) return fail(added.error());
  return tasks_of(probe_text(seat_.dialect, task_columns(true), probe.shards) +
                      std::string(seat_.dialect.skip_locked),
                  values);
}

Result<std::vector<Candidate>> RelationalTransaction::due_candidates(const task::Kind& kind,
                                                                     const ShardRange& shards,
                                                                     std::size_t window) {
  // All priorities in one question: on a server each question costs a way there and back.
  const std::string one = "SELECT * FROM (" +
                          probe_text(seat_.dialect, "id, tenant, priority, available_at", shards) +
                          ") AS probed";
  std::string statement;
  Values values;
  for (int priority = task::kPriorityMax; priority >= 0; --priority) {
    statement.append(statement.empty() ? "" : " UNION ALL ").append(one);
    const Probe probe{.kind = &kind, .priority = priority, .shards = shards, .found = window};
    if (Result<> added = add_probe(values, probe); !added) return fail(added.error());
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
  return write_claims(request, *at, std::move(*rows), {});
}

Result<std::vector<int>> RelationalTransaction::due_priorities(const task::Kind&) {
  std::vector<int> all;
  for (int priority = task::kPriorityMax; priority >= 0; --priority) all.push_back(priority);
  return all;
}

Result<TakenBatch> RelationalTransaction::write_claims(const ClaimRequest& request, TimePoint now,
                                                       std::vector<task::Task> rows,
                                                       std::span<const Probe> probes) {
  TakenBatch batch{.now = now, .tasks = {}};
  if (rows.empty()) return batch;
  task::Claim claim{.owner = request.owner, .lease = request.lease, .lease_end = std::nullopt};
  if (request.lease_for) claim.lease_end = saturating_add(now, *request.lease_for);
  std::vector<task::TaskId> ids;
  ids.reserve(rows.size());
  batch.tasks.reserve(rows.size());
  for (task::Task& row : rows) {
    ids.push_back(row.id);
    const task::State from = row.state;
    std::string owner = row.owner ? to_string(*row.owner) : "";
    batch.tasks.push_back(
        {.task = task::apply(std::move(row), claim), .from = from, .owner = std::move(owner)});
  }
  std::ranges::sort(ids);
  if (Result<> marked = mark_claimed(claim, ids, probes); !marked) return fail(marked.error());
  return batch;
}

Result<> RelationalTransaction::mark_claimed(const task::Claim& claim,
                                             std::span<const task::TaskId> ids,
                                             std::span<const Probe> /*probes*/) {
  const std::string owner = task::to_string(claim.owner);
  Values values;
  values.time(claim.lease_end.value_or(kNever)).id(claim.lease.value).text(owner);
  values.time(claim.lease_end);
  fill_list(values, ids, [](Values& list, const task::TaskId& id) { list.id(id.value); });
  const auto done =
      connection().execute("UPDATE " + std::string(seat_.dialect.task_by_id) +
                               std::string(kSetClaimed) + " WHERE id IN " + list_of(ids.size()),
                           values.view());
  return done ? Result<>{} : fail(done.error());
}

}  // namespace recourse::store::relational

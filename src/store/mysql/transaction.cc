#include "store/mysql/transaction.h"

#include <algorithm>
#include <map>
#include <utility>

namespace recourse::store::mysql {

// Every index is forced: with a handful of rows the planner scans the table instead and waits for
// locks on rows that the statement does not want.
const relational::Dialect kDialect{
    .now = "SELECT TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(6))",
    .task_by_id = "recourse_task FORCE INDEX (PRIMARY)",
    .task_by_due = "recourse_task FORCE INDEX (recourse_task_due)",
    .task_by_owner = "recourse_task FORCE INDEX (recourse_task_owner)",
    .for_update = " FOR UPDATE",
    .skip_locked = " FOR UPDATE SKIP LOCKED",
    .after_delete = " ORDER BY id LIMIT 1024",
    .add_count =
        "INSERT INTO recourse_counter (stripe, kind, state, n) VALUES (?, ?, ?, ?)"
        " ON DUPLICATE KEY UPDATE n = n + VALUES(n)",
};

namespace {

using task::Task;

// Which priorities of a kind have something due: read without a lock, so that nothing is locked
// that will not be taken.
constexpr std::string_view kHasDue =
    "(SELECT priority FROM recourse_task FORCE INDEX (recourse_task_due)"
    " WHERE kind = ? AND priority = ? AND available_at <= ? LIMIT 1)";

std::string probe(const ShardRange& shards) {
  std::string statement = "SELECT " + relational::task_columns(true) + " FROM ";
  statement += kDialect.task_by_due;
  statement += " WHERE kind = ? AND priority = ? AND available_at <= ?";
  if (!shards.is_all()) statement += " AND shard BETWEEN ? AND ?";
  return statement + " ORDER BY available_at LIMIT ? FOR UPDATE SKIP LOCKED";
}

}  // namespace

Result<std::vector<int>> MysqlTransaction::priorities_with_due(const task::Kind& kind,
                                                               TimePoint now) {
  std::string statement;
  relational::Values values;
  for (int priority = task::kPriorityMax; priority >= 0; --priority) {
    statement.append(statement.empty() ? "" : " UNION ALL ").append(kHasDue);
    values.text(kind.value).integer(priority).time(now);
  }
  std::vector<int> priorities;
  const Result<> asked = connection().query(statement, values.view(), [&](const sql::Row& row) {
    priorities.push_back(static_cast<int>(row.integer(0)));
  });
  if (!asked) return fail(asked.error());
  std::ranges::sort(priorities, std::greater{});
  return priorities;
}

Result<TakenBatch> MysqlTransaction::take_due(const ClaimRequest& request) {
  const Result<TimePoint> at = claim_time();
  if (!at) return fail(at.error());
  TakenBatch batch{.now = *at, .tasks = {}};
  const std::string statement = probe(request.shards);
  std::vector<Task> rows;
  for (const Quota& quota : request.quotas) {
    std::size_t room = std::min(static_cast<std::size_t>(quota.limit),
                                static_cast<std::size_t>(request.limit) - rows.size());
    if (room == 0) continue;
    const Result<std::vector<int>> priorities = priorities_with_due(quota.kind, *at);
    if (!priorities) return fail(priorities.error());
    for (const int priority : *priorities) {
      if (room == 0) break;
      relational::Values values;
      values.text(quota.kind.value).integer(priority).time(*at);
      if (!request.shards.is_all()) {
        values.integer(request.shards.first).integer(request.shards.last);
      }
      values.integer(static_cast<std::int64_t>(room));
      auto found = tasks_of(statement, values);
      if (!found) return fail(found.error());
      room -= found->size();
      std::ranges::move(*found, std::back_inserter(rows));
    }
  }
  if (Result<> done = write_claims(batch.tasks, request, *at, std::move(rows)); !done) {
    return fail(done.error());
  }
  return batch;
}

}  // namespace recourse::store::mysql

#include "store/mysql/transaction.h"

#include <algorithm>
#include <functional>

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

// Which priorities of a kind have something due: read without a lock, so that nothing is locked
// that will not be taken.
constexpr std::string_view kHasDue =
    "(SELECT priority FROM recourse_task FORCE INDEX (recourse_task_due)"
    " WHERE kind = ? AND priority = ? AND available_at <= ? LIMIT 1)";

}  // namespace

Result<std::vector<int>> MysqlTransaction::priorities_to_probe(const task::Kind& kind,
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

}  // namespace recourse::store::mysql

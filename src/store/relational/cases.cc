#include <utility>

#include "store/relational/transaction.h"

namespace recourse::store::relational {
namespace {

using task::TaskId;

constexpr std::string_view kSelect =
    "SELECT task_id, fence, opened_at, reminders, remind_at, assignee FROM recourse_case WHERE ";

Case read_case(const sql::Row& row) {
  return {.task = TaskId(read_ulid(row.bytes(0))),
          .fence = task::Fence(row.integer(1)),
          .opened_at = read_time(row.integer(2)),
          .reminders = static_cast<int>(row.integer(3)),
          .remind_at = read_time(row, 4),
          .assignee = std::string(row.bytes(5))};
}

}  // namespace

Result<std::vector<Case>> RelationalTransaction::cases_where(std::string_view rest,
                                                             const Values& values) {
  std::vector<Case> cases;
  const Result<> asked =
      connection().query(std::string(kSelect).append(rest), values.view(),
                         [&](const sql::Row& row) { cases.push_back(read_case(row)); });
  if (!asked) return fail(asked.error());
  return cases;
}

Result<> RelationalTransaction::open_cases(std::span<const Case> cases) {
  Values rows;
  for (const Case& one : cases) {
    rows.id(one.task.value).integer(one.fence.value).time(one.opened_at).integer(one.reminders);
    rows.time(one.remind_at).text(one.assignee);
  }
  return connection().execute_later(
      "INSERT INTO recourse_case (task_id, fence, opened_at, reminders, remind_at, assignee)"
      " VALUES (?, ?, ?, ?, ?, ?)" +
          std::string(seat().dialect.or_replace_case),
      6, rows.view());
}

Result<> RelationalTransaction::close_cases(std::span<const TaskId> tasks) {
  return delete_by_id("DELETE FROM recourse_case WHERE task_id IN ", tasks);
}

Result<std::vector<Case>> RelationalTransaction::lock_due_cases(TimePoint now, std::size_t limit) {
  Values values;
  values.time(now).integer(static_cast<std::int64_t>(limit));
  return cases_where(
      "remind_at <= ? ORDER BY remind_at LIMIT ?" + std::string(seat().dialect.skip_locked),
      values);
}

Result<std::vector<Case>> RelationalTransaction::lock_cases(std::span<const TaskId> tasks) {
  Values list;
  fill_list(list, tasks, [](Values& values, const TaskId& id) { values.id(id.value); });
  return cases_where("task_id IN " + list_of(tasks.size()) + " ORDER BY task_id" +
                         std::string(seat().dialect.for_update),
                     list);
}

Result<> RelationalTransaction::write_cases(std::span<const Case> cases) {
  Values rows;
  for (const Case& one : cases) {
    rows.integer(one.reminders).time(one.remind_at).text(one.assignee).id(one.task.value);
  }
  const auto written = connection().execute_many(
      "UPDATE recourse_case SET reminders = ?, remind_at = ?, assignee = ? WHERE task_id = ?", 4,
      rows.view());
  return written ? Result<>{} : fail(written.error());
}

Result<std::vector<Case>> RelationalTransaction::list_cases(
    const std::optional<std::string>& assignee, std::optional<TaskId> after, std::size_t limit) {
  Values values;
  const TaskId first = after.value_or(TaskId{});
  values.id(first.value);
  std::string rest = "task_id > ?";
  if (assignee) {
    rest += " AND assignee = ?";
    values.text(*assignee);
  }
  values.integer(static_cast<std::int64_t>(limit));
  return cases_where(rest + " ORDER BY task_id LIMIT ?", values);
}

}  // namespace recourse::store::relational

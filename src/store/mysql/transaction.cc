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
    .mark_by_id = "recourse_inbox FORCE INDEX (PRIMARY)",
    .or_replace_case =
        " ON DUPLICATE KEY UPDATE fence = VALUES(fence), opened_at = VALUES(opened_at),"
        " reminders = VALUES(reminders), remind_at = VALUES(remind_at),"
        " assignee = VALUES(assignee)",
};

namespace {

constexpr std::string_view kNow = "TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(6))";

// One of many; each is a step into the index.
constexpr std::string_view kHasDue =
    " UNION ALL (SELECT priority, 0 FROM recourse_task FORCE INDEX (recourse_task_due)"
    " WHERE kind = ? AND priority = ? AND available_at <= ";

// The time first, under a priority that there is not. It is the same all through a statement.
std::string ask_priorities(std::string_view now) {
  std::string statement = "(SELECT -1, ";
  statement.append(kNow).append(")");
  for (int priority = task::kPriorityMax; priority >= 0; --priority) {
    statement.append(kHasDue).append(now).append(" LIMIT 1)");
  }
  return statement;
}

// Deletes those of `rows` rows that carry their ticket and no request, and answers with them. The
// list of ids is there for the index; the order and the bound make MariaDB walk along it also in a
// young table.
std::string take_out(std::size_t rows, std::string_view after_delete) {
  std::string tickets = "((?,?,?,?)";
  for (std::size_t i = 1; i < rows; ++i) tickets += ",(?,?,?,?)";
  std::string statement = "DELETE FROM recourse_task WHERE id IN " + relational::list_of(rows);
  statement.append(" AND (id, fence, lease, state) IN ").append(tickets).append(")");
  statement.append(" AND requested IS NULL").append(after_delete);
  return statement.append(" RETURNING ").append(relational::task_columns(true));
}

// What fills up the last rows is there already by then.
std::string insert_marks_of(std::size_t rows) {
  std::string row = "(?, ?, ? + ";
  row.append(kNow).append(")");
  std::string statement = "INSERT IGNORE INTO recourse_inbox (id, task_id, expires_at) VALUES ";
  for (std::size_t i = 0; i < rows; ++i) statement.append(i == 0 ? "" : ", ").append(row);
  return statement.append(" RETURNING id");
}

}  // namespace

// One statement instead of a lock, a read and a delete by the ids again.
Result<std::vector<bool>> MysqlTransaction::write_finishes(std::span<const Finish> finishes) {
  if (flavour_ == Flavour::kMysql) return RelationalTransaction::write_finishes(finishes);
  relational::Values values;
  relational::fill_list(values, finishes, [](relational::Values& list, const Finish& finish) {
    list.id(finish.transition->task.value);
  });
  const std::size_t marks = values.view().size();
  values.reserve(marks * 5);
  relational::fill_list(values, finishes, [](relational::Values& list, const Finish& finish) {
    const task::Transition& change = *finish.transition;
    list.id(change.task.value)
        .integer(change.ticket.fence.value)
        .id(change.ticket.lease.value)
        .text(task::to_string(change.from));
  });
  auto rows = tasks_of(take_out(marks, seat().dialect.after_delete), values);
  if (!rows) return fail(rows.error());
  std::vector<bool> done(finishes.size(), false);
  std::vector<Finished> finished;
  finished.reserve(rows->size());
  for (task::Task& row : *rows) {
    const auto finish = std::ranges::lower_bound(
        finishes, row.id, {}, [](const Finish& item) { return item.transition->task; });
    done[static_cast<std::size_t>(finish - finishes.begin())] = true;
    finished.push_back({.task = task::apply(std::move(row), *finish->transition),
                        .expires_at = finish->expires_at});
  }
  if (finished.empty()) return done;
  if (Result<> added = add_to_archive(finished); !added) return fail(added.error());
  return done;
}

// Waits for whoever is about to mark one of them, and answers with the new ones.
Result<std::vector<bool>> MysqlTransaction::insert_marks(std::span<const NewMark> marks) {
  if (flavour_ == Flavour::kMysql) return RelationalTransaction::insert_marks(marks);
  relational::Values values;
  relational::fill_list(values, marks, [](relational::Values& list, const NewMark& mark) {
    list.bytes(mark.key->value);
    if (mark.task) {
      list.id(mark.task->value);
    } else {
      list.null();
    }
    list.integer(mark.keep_for.count());
  });
  std::vector<bool> fresh(marks.size(), false);
  const auto key_of = [](const NewMark& mark) { return std::string_view(mark.key->value); };
  const Result<> asked = connection().query(
      insert_marks_of(values.view().size() / 3), values.view(), [&](const sql::Row& row) {
        const auto mark = std::ranges::lower_bound(marks, row.bytes(0), {}, key_of);
        fresh[static_cast<std::size_t>(mark - marks.begin())] = true;
      });
  if (!asked) return fail(asked.error());
  return fresh;
}

Result<std::vector<int>> MysqlTransaction::due_priorities(const task::Kind& kind) {
  static const std::string as_of_now = ask_priorities(kNow);
  static const std::string as_of_before = ask_priorities("?");
  const bool knows_time = has_claim_time();
  const Result<TimePoint> before = knows_time ? claim_time() : Result<TimePoint>(TimePoint());
  if (!before) return fail(before.error());
  relational::Values values;
  for (int priority = task::kPriorityMax; priority >= 0; --priority) {
    values.text(kind.value).integer(priority);
    if (knows_time) values.time(*before);
  }
  std::vector<int> priorities;
  const Result<> asked = connection().query(
      knows_time ? as_of_before : as_of_now, values.view(), [&](const sql::Row& row) {
        const auto priority = static_cast<int>(row.integer(0));
        if (priority >= 0) {
          priorities.push_back(priority);
        } else if (!knows_time) {
          set_claim_time(relational::read_time(row.integer(1)));
        }
      });
  if (!asked) return fail(asked.error());
  std::ranges::sort(priorities, std::greater{});
  return priorities;
}

}  // namespace recourse::store::mysql

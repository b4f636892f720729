#include "store/postgres/transaction.h"

#include <algorithm>
#include <utility>

#include "store/postgres/columns.h"
#include "store/postgres/statements.h"
#include "store/shard.h"

namespace recourse::store::postgres {

const relational::Dialect kDialect{
    .now = kNow,
    .task_by_id = "recourse_task",
    .task_by_due = "recourse_task",
    .task_by_owner = "recourse_task",
    .for_update = " FOR UPDATE",
    .skip_locked = " FOR UPDATE SKIP LOCKED",
    .after_delete = "",
    .add_count =
        "INSERT INTO recourse_counter (stripe, kind, state, n) VALUES (?, ?, ?, ?)"
        " ON CONFLICT (stripe, kind, state)"
        " DO UPDATE SET n = recourse_counter.n + excluded.n",
    .mark_by_id = "recourse_inbox",
    .or_replace_case =
        " ON CONFLICT (task_id) DO UPDATE SET fence = excluded.fence,"
        " opened_at = excluded.opened_at, reminders = excluded.reminders,"
        " remind_at = excluded.remind_at, assignee = excluded.assignee",
};

namespace {

using relational::read_time;
using relational::read_ulid;
using task::TaskId;
using task::Transition;
using enum sql::postgres::Element;

Columns new_tasks(std::span<const NewTask> tasks) {
  Columns columns({kBytea, kText, kText, kText, kText, kInt8, kBytea, kText, kText,  kText,
                   kInt8,  kInt8, kInt8, kText, kInt8, kInt8, kText,  kInt8, kBytea, kText},
                  tasks.size());
  for (const NewTask& item : tasks) {
    const task::TaskSpec& spec = *item.spec;
    columns.id(item.id.value)
        .text(spec.kind.value)
        .text(spec.tenant.value)
        .text(spec.shard_key.value)
        .text(spec.unique_key.value)
        .integer(spec.priority)
        .text(spec.payload)
        .text(relational::to_json(spec.headers))
        .text(spec.trace_parent)
        .text(relational::to_json(spec.search_keys))
        .integer(spec.max_retries)
        .integer(spec.timeout.count())
        .time(spec.deadline)
        .text(spec.backoff)
        .integer(shard_of(spec.shard_key))
        .integer(item.delay.count())
        .text(task::to_string(item.state))
        .integer(item.ticket.fence.value)
        .id(item.ticket.lease.value);
    if (item.owner) {
      columns.text(task::to_string(*item.owner));
    } else {
      columns.null();
    }
  }
  return columns;
}

void add_condition(Columns& columns, const Transition& change) {
  columns.id(change.task.value)
      .integer(change.ticket.fence.value)
      .id(change.ticket.lease.value)
      .text(task::to_string(change.from))
      .id(change.ends_lease ? Ulid() : change.ticket.lease.value)
      .text(task::to_string(change.to));
}

void add_standing(Columns& columns, const Transition& change) {
  columns.time(change.due_at)
      .integer(change.retries)
      .integer(change.attempts)
      .integer(change.episode)
      .time(change.first_started_at)
      .integer(change.deaths);
  if (change.error) {
    columns.text(change.error->code).text(change.error->message);
  } else {
    columns.null().null();
  }
  const bool ended = task::is_finished(change.to) || task::needs_person(change.to);
  columns.time(ended ? std::optional(change.at) : std::nullopt).time(change.deadline);
}

// One after the other, as string_agg puts them; NULL for none. Ascending afterwards.
std::vector<TaskId> read_ids(const sql::Row& row, std::size_t column) {
  std::vector<TaskId> ids;
  if (row.is_null(column)) return ids;
  constexpr std::size_t kBytes = Ulid().bytes.size();
  const std::string_view all = row.bytes(column);
  ids.reserve(all.size() / kBytes);
  for (std::size_t at = 0; at < all.size(); at += kBytes) {
    ids.emplace_back(read_ulid(all.substr(at, kBytes)));
  }
  std::ranges::sort(ids);
  return ids;
}

template <class Items, class IdOf>
std::vector<bool> which(const std::vector<TaskId>& written, const Items& items, IdOf id_of) {
  std::vector<bool> done(items.size(), true);
  if (written.size() == items.size()) return done;
  for (std::size_t i = 0; i < items.size(); ++i) {
    done[i] = std::ranges::binary_search(written, id_of(items[i]));
  }
  return done;
}

}  // namespace

Result<Transaction::InsertedRows> PostgresTransaction::insert_tasks(
    std::span<const NewTask> tasks) {
  static const std::string all_new = std::string(kInsertTasks) + kAllNew;
  static const std::string only_new = std::string(kInsertTasks) + kOnlyNew;
  const bool hopeful = care() == Care::kHopeful;
  InsertedRows inserted;
  std::vector<TaskId> ids;
  const Result<> asked = connection_.query_with(
      hopeful ? all_new : only_new, new_tasks(tasks).finish(), [&](const sql::Row& row) {
        inserted.now = read_time(row.integer(0));
        ids = read_ids(row, 1);
      });
  if (!asked) return fail(asked.error());
  if (hopeful) {
    inserted.fresh.assign(tasks.size(), true);
  } else {
    inserted.fresh = which(ids, tasks, [](const NewTask& item) { return item.id; });
  }
  if (Result<> keys = add_search_keys(tasks, inserted.fresh); !keys) return fail(keys.error());
  return inserted;
}

Result<std::vector<bool>> PostgresTransaction::write_moves(
    std::span<const Transition* const> moves) {
  Columns columns({kBytea, kInt8, kBytea, kText, kBytea, kText, kText, kInt8, kInt8, kInt8, kInt8,
                   kInt8, kInt8, kText, kText, kInt8, kInt8},
                  moves.size());
  for (const Transition* move : moves) {
    if (move->to == task::State::kPending) low_water_.put_back(move->account.kind, move->due_at);
    add_condition(columns, *move);
    if (relational::is_parked(move->to)) {
      columns.text(task::to_string(move->to));
    } else {
      columns.null();
    }
    add_standing(columns, *move);
  }
  std::vector<TaskId> written;
  const Result<> asked =
      connection_.query_with(kWriteMoves, std::move(columns).finish(),
                             [&](const sql::Row& row) { written = read_ids(row, 0); });
  if (!asked) return fail(asked.error());
  return which(written, moves, [](const Transition* move) { return move->task; });
}

Result<> PostgresTransaction::write_rows(std::span<const task::Task> tasks) {
  for (const task::Task& task : tasks) {
    low_water_.put_back(task.spec.kind, task::available_at(task));
  }
  return RelationalTransaction::write_rows(tasks);
}

Result<std::vector<bool>> PostgresTransaction::write_finishes(std::span<const Finish> finishes) {
  Columns columns({kBytea, kInt8, kBytea, kText, kBytea, kText, kInt8, kInt8, kInt8, kInt8, kInt8,
                   kInt8, kText, kText, kInt8, kInt8, kInt8},
                  finishes.size());
  for (const Finish& finish : finishes) {
    add_condition(columns, *finish.transition);
    add_standing(columns, *finish.transition);
    columns.time(finish.expires_at);
  }
  std::vector<TaskId> written;
  const Result<> asked =
      connection_.query_with(kWriteFinishes, std::move(columns).finish(),
                             [&](const sql::Row& row) { written = read_ids(row, 0); });
  if (!asked) return fail(asked.error());
  std::vector<bool> done =
      which(written, finishes, [](const Finish& finish) { return finish.transition->task; });
  if (Result<> freed = release_keys_of(finishes, done); !freed) return fail(freed.error());
  return done;
}

Result<> PostgresTransaction::add_counts(std::span<const CountChange> changes) {
  Columns columns({kBytea, kText, kText, kInt8}, changes.size(), Form::kArray);
  for (const CountChange& change : changes) {
    columns.id(seat().stripe)
        .text(change.kind.value)
        .text(task::to_string(change.state))
        .integer(change.by);
  }
  return connection_.execute_later_with(kAddCounts, std::move(columns).finish());
}

}  // namespace recourse::store::postgres

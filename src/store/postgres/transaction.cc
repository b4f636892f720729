#include "store/postgres/transaction.h"

#include <algorithm>
#include <map>
#include <ranges>
#include <utility>

#include "sql/postgres/wire_format.h"
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
    const task::Task& task = item.task;
    const task::TaskSpec& spec = task.spec;
    columns.id(task.id.value)
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
        .text(task::to_string(task.state))
        .integer(task.ticket.fence.value)
        .id(task.ticket.lease.value);
    if (task.owner) {
      columns.text(task::to_string(*task.owner));
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

std::vector<bool> which(const std::set<TaskId>& written, auto ids) {
  std::vector<bool> done;
  for (const TaskId& id : ids) done.push_back(written.contains(id));
  return done;
}

sql::postgres::Param maybe(const std::optional<Duration>& duration) {
  if (duration) return sql::postgres::integer_param(duration->count());
  return {.type = sql::postgres::kInt8Type, .binary = std::nullopt};
}

sql::postgres::Param id_param(const Ulid& id) {
  return sql::postgres::bytes_param(
      {reinterpret_cast<const char*>(id.bytes.data()), id.bytes.size()});
}

// The row as claimed, then its state and owner before.
constexpr std::size_t kBefore = relational::kTaskColumns;
Taken read_taken(const sql::Row& row) {
  Taken taken{.task = relational::read_task(row),
              .from = relational::read_state(row.bytes(kBefore)),
              .owner = {}};
  if (!row.is_null(kBefore + 1)) taken.owner = row.bytes(kBefore + 1);
  return taken;
}

std::vector<sql::postgres::Param> probes(const ClaimRequest& request, LowWater& low_water) {
  const auto now = LowWater::Clock::now();
  Columns quotas({kText, kInt8}, request.quotas.size());
  Columns starts({kText, kInt8, kInt8}, request.quotas.size() * (task::kPriorityMax + 1));
  for (const Quota& quota : request.quotas) {
    quotas.text(quota.kind.value).integer(quota.limit);
    for (int priority = task::kPriorityMax; priority >= 0; --priority) {
      starts.text(quota.kind.value)
          .integer(priority)
          .time(low_water.start_of(quota.kind, priority, now));
    }
  }
  std::vector<sql::postgres::Param> params = std::move(quotas).finish();
  std::ranges::move(std::move(starts).finish(), std::back_inserter(params));
  params.push_back(sql::postgres::integer_param(request.shards.first));
  params.push_back(sql::postgres::integer_param(request.shards.last));
  params.push_back(sql::postgres::integer_param(request.limit));
  params.push_back(id_param(request.lease.value));
  params.push_back(sql::postgres::text_param(task::to_string(request.owner)));
  params.push_back(maybe(request.lease_for));
  params.push_back(maybe(request.lease_for));
  return params;
}

std::size_t wanted(const ClaimRequest& request) {
  std::size_t sum = 0;
  for (const Quota& quota : request.quotas) sum += static_cast<std::size_t>(quota.limit);
  return std::min(sum, static_cast<std::size_t>(request.limit));
}

}  // namespace

Result<Transaction::InsertedIds> PostgresTransaction::insert_tasks(std::span<const NewTask> tasks) {
  static const std::string all_new = std::string(kInsertTasks) + kAllNew;
  static const std::string only_new = std::string(kInsertTasks) + kOnlyNew;
  const bool hopeful = care() == Care::kHopeful;
  InsertedIds inserted;
  const Result<> asked = connection_.query_with(
      hopeful ? all_new : only_new, new_tasks(tasks).finish(), [&](const sql::Row& row) {
        inserted.now = read_time(row.integer(0));
        if (!hopeful) inserted.fresh.emplace(read_ulid(row.bytes(1)));
      });
  if (!asked) return fail(asked.error());
  if (hopeful) {
    // They ascend: each belongs at the end.
    for (const NewTask& item : tasks) inserted.fresh.insert(inserted.fresh.end(), item.task.id);
  }
  if (inserted.fresh.empty()) {
    const Result<TimePoint> at = now();
    if (!at) return fail(at.error());
    inserted.now = *at;
  }
  if (Result<> keys = add_search_keys(tasks, inserted.fresh); !keys) return fail(keys.error());
  return inserted;
}

Result<TakenBatch> PostgresTransaction::take_due(const ClaimRequest& request) {
  static const std::string statement =
      kTakeDue + relational::task_columns(true, "recourse_task.") +
      ", picked.state, picked.owner, picked.available_at, (SELECT now FROM at)";
  TakenBatch batch;
  std::map<std::pair<task::Kind, int>, TimePoint> oldest;
  const auto started = LowWater::Clock::now();
  const Result<> asked =
      connection_.query_with(statement, probes(request, low_water_), [&](const sql::Row& row) {
        const Taken& taken = batch.tasks.emplace_back(read_taken(row));
        const TimePoint available_at = read_time(row.integer(kBefore + 2));
        const task::TaskSpec& spec = taken.task.spec;
        const auto [mark, is_first] = oldest.try_emplace({spec.kind, spec.priority}, available_at);
        if (!is_first) mark->second = std::min(mark->second, available_at);
        batch.now = read_time(row.integer(kBefore + 3));
      });
  if (!asked) return fail(asked.error());
  const auto ended = LowWater::Clock::now();
  low_water_.took(ended - started, ended);
  if (batch.tasks.size() < wanted(request)) low_water_.fell_short(ended);
  for (const auto& [probe, time] : oldest) low_water_.found(probe.first, probe.second, time);
  if (batch.tasks.empty()) {
    const Result<TimePoint> at = now();
    if (!at) return fail(at.error());
    batch.now = *at;
  }
  set_claim_time(batch.now);
  return batch;
}

Result<TakenBatch> PostgresTransaction::take(const ClaimRequest& request,
                                             std::span<const TaskId> ids) {
  static const std::string statement =
      kTake + relational::task_columns(true, "recourse_task.") + ", picked.state, picked.owner";
  const Result<TimePoint> at = claim_time();
  if (!at) return fail(at.error());
  Columns wanted({kBytea}, ids.size());
  for (const TaskId& id : ids) wanted.id(id.value);
  std::vector<sql::postgres::Param> params = std::move(wanted).finish();
  std::optional<Duration> lease_end;
  if (request.lease_for) lease_end = saturating_add(*at, *request.lease_for).time_since_epoch();
  params.push_back(maybe(at->time_since_epoch()));
  params.push_back(id_param(request.lease.value));
  params.push_back(sql::postgres::text_param(task::to_string(request.owner)));
  params.push_back(maybe(lease_end));
  params.push_back(maybe(lease_end.value_or(kNever.time_since_epoch())));
  TakenBatch batch{.now = *at, .tasks = {}};
  const Result<> asked = connection_.query_with(
      statement, params, [&](const sql::Row& row) { batch.tasks.push_back(read_taken(row)); });
  if (!asked) return fail(asked.error());
  return batch;
}

Result<std::vector<bool>> PostgresTransaction::write_moves(std::span<const Transition> moves) {
  Columns columns({kBytea, kInt8, kBytea, kText, kBytea, kText, kText, kInt8, kInt8, kInt8, kInt8,
                   kInt8, kInt8, kText, kText, kInt8, kInt8},
                  moves.size());
  for (const Transition& move : moves) {
    add_condition(columns, move);
    if (relational::is_parked(move.to)) {
      columns.text(task::to_string(move.to));
    } else {
      columns.null();
    }
    add_standing(columns, move);
  }
  std::set<TaskId> written;
  const Result<> asked = connection_.query_with(
      kWriteMoves, std::move(columns).finish(),
      [&](const sql::Row& row) { written.emplace(read_ulid(row.bytes(0))); });
  if (!asked) return fail(asked.error());
  return which(written, std::views::transform(moves, &Transition::task));
}

Result<std::vector<bool>> PostgresTransaction::write_finishes(std::span<const Finish> finishes) {
  Columns columns({kBytea, kInt8, kBytea, kText, kBytea, kText, kInt8, kInt8, kInt8, kInt8, kInt8,
                   kInt8, kText, kText, kInt8, kInt8, kInt8},
                  finishes.size());
  for (const Finish& finish : finishes) {
    add_condition(columns, finish.transition);
    add_standing(columns, finish.transition);
    columns.time(finish.expires_at);
  }
  std::set<TaskId> written;
  const Result<> asked = connection_.query_with(
      kWriteFinishes, std::move(columns).finish(),
      [&](const sql::Row& row) { written.emplace(read_ulid(row.bytes(0))); });
  if (!asked) return fail(asked.error());
  std::vector<task::Account> accounts;
  for (const Finish& finish : finishes) {
    const task::Account& account = finish.transition.account;
    if (!account.unique_key.value.empty() && written.contains(finish.transition.task)) {
      accounts.push_back(account);
    }
  }
  if (!accounts.empty()) {
    std::ranges::sort(accounts);
    if (Result<> freed = release_keys(accounts); !freed) return fail(freed.error());
  }
  return which(written, std::views::transform(
                            finishes, [](const Finish& finish) { return finish.transition.task; }));
}

Result<> PostgresTransaction::add_counts(std::span<const CountChange> changes) {
  Columns columns({kBytea, kText, kText, kInt8}, changes.size());
  for (const CountChange& change : changes) {
    columns.id(seat().stripe)
        .text(change.kind.value)
        .text(task::to_string(change.state))
        .integer(change.by);
  }
  return connection_.execute_later_with(kAddCounts, std::move(columns).finish());
}

}  // namespace recourse::store::postgres

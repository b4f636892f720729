// The claim's two statements.
#include <algorithm>
#include <iterator>
#include <utility>

#include "sql/postgres/wire_format.h"
#include "store/postgres/columns.h"
#include "store/postgres/statements.h"
#include "store/postgres/transaction.h"

namespace recourse::store::postgres {
namespace {

using relational::read_time;
using task::TaskId;
using enum sql::postgres::Element;

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

std::vector<sql::postgres::Param> probes(const ClaimRequest& request, const Shares& shares,
                                         LowWater& low_water) {
  const auto now = LowWater::Clock::now();
  Columns starts({kText, kInt8, kInt8}, shares.kinds.size() * (task::kPriorityMax + 1),
                 Form::kArray);
  Columns quotas({kText, kInt8, kInt8}, shares.kinds.size(), Form::kArray);
  for (const Share& share : shares.kinds) {
    quotas.text(share.kind.value).integer(share.limit).integer(share.limit_alone);
    for (int priority = task::kPriorityMax; priority >= 0; --priority) {
      starts.text(share.kind.value)
          .integer(priority)
          .time(low_water.start_of(share.kind, priority, now));
    }
  }
  std::vector<sql::postgres::Param> params = std::move(starts).finish();
  std::ranges::move(std::move(quotas).finish(), std::back_inserter(params));
  params.push_back(sql::postgres::integer_param(request.shards.first));
  params.push_back(sql::postgres::integer_param(request.shards.last));
  params.push_back(sql::postgres::integer_param(shares.limit));
  params.push_back(id_param(request.lease.value));
  params.push_back(sql::postgres::text_param(task::to_string(request.owner)));
  params.push_back(maybe(request.lease_for));
  params.push_back(maybe(request.lease_for));
  return params;
}

// What a claim found, by kind and priority.
class Finds {
 public:
  void add(const task::TaskSpec& spec, TimePoint available_at, std::int64_t most) {
    if (last_ == finds_.size() || !is_of(finds_[last_], spec)) look_up(spec, available_at, most);
    Find& find = finds_[last_];
    find.oldest = std::min(find.oldest, available_at);
    ++find.count;
  }

  // Whether a kind had less than it might have given.
  [[nodiscard]] bool fell_short(const Shares& shares) const {
    std::int64_t all = 0;
    bool any_short = false;
    for (const Share& share : shares.kinds) {
      std::int64_t found = 0;
      std::int64_t most = 1;  // of which it has nothing, it has too little
      for (const Find& find : finds_) {
        if (find.kind != share.kind) continue;
        found += find.count;
        most = find.most;
      }
      all += found;
      any_short = any_short || found < most;
    }
    return any_short && all < shares.limit;
  }

  void tell(LowWater& low_water) const {
    for (const Find& find : finds_) low_water.found(find.kind, find.priority, find.oldest);
  }

 private:
  struct Find {
    task::Kind kind;
    int priority;
    TimePoint oldest;
    std::int64_t most;  // of its kind
    std::int64_t count;
  };

  static bool is_of(const Find& find, const task::TaskSpec& spec) {
    return find.priority == spec.priority && find.kind == spec.kind;
  }

  void look_up(const task::TaskSpec& spec, TimePoint available_at, std::int64_t most) {
    const auto same = [&](const Find& find) { return is_of(find, spec); };
    const auto found = std::ranges::find_if(finds_, same);
    last_ = static_cast<std::size_t>(found - finds_.begin());
    if (found != finds_.end()) return;
    finds_.push_back({.kind = spec.kind,
                      .priority = spec.priority,
                      .oldest = available_at,
                      .most = most,
                      .count = 0});
  }

  std::vector<Find> finds_;
  // Where the last one was: neighbours are alike.
  std::size_t last_ = 0;
};

}  // namespace

Result<TakenBatch> PostgresTransaction::take_due(const ClaimRequest& request,
                                                 const Shares& shares) {
  static const std::string statement =
      kTakeDue + relational::task_columns(true, "recourse_task.") +
      ", picked.state, picked.owner, picked.available_at, picked.most, (SELECT now FROM at)";
  TakenBatch batch;
  batch.tasks.reserve(static_cast<std::size_t>(shares.limit));
  Finds finds;
  const auto started = LowWater::Clock::now();
  const Result<> asked = connection_.query_with(
      statement, probes(request, shares, low_water_), [&](const sql::Row& row) {
        const Taken& taken = batch.tasks.emplace_back(read_taken(row));
        finds.add(taken.task.spec, read_time(row.integer(kBefore + 2)), row.integer(kBefore + 3));
        batch.now = read_time(row.integer(kBefore + 4));
      });
  if (!asked) return fail(asked.error());
  const auto ended = LowWater::Clock::now();
  low_water_.took(ended - started, ended);
  if (finds.fell_short(shares)) low_water_.fell_short(ended);
  finds.tell(low_water_);
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
  Columns wanted({kBytea}, ids.size(), Form::kArray);
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

}  // namespace recourse::store::postgres

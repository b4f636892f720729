#include "bench/store_postgres_loop.h"

#include <algorithm>
#include <chrono>

#include "sql/postgres/connect.h"
#include "store/shard.h"

namespace recourse::bench {
namespace {

using sql::postgres::ArrayParam;
using sql::postgres::Param;
using enum sql::postgres::Element;

constexpr const char* kInsertRows = R"sql(
  INSERT INTO recourse_task (id, kind, tenant, shard_key, unique_key, priority, payload, headers,
    trace_parent, search_keys, max_retries, timeout_us, deadline_at, backoff, shard, created_at,
    due_at, state, available_at, fence, lease, owner)
  SELECT n.*, at.now, at.now, ?, COALESCE(?, at.now), ?, ?, ?
  FROM (SELECT (extract(epoch FROM clock_timestamp()) * 1000000)::bigint AS now) at,
    unnest(?::bytea[], ?::text[], ?::text[], ?::text[], ?::text[], ?::bigint[], ?::bytea[],
      ?::text[], ?::text[], ?::text[], ?::bigint[], ?::bigint[], ?::bigint[], ?::text[],
      ?::bigint[]) AS n)sql";

constexpr const char* kClaim = R"sql(
  WITH picked AS MATERIALIZED (
    SELECT id FROM recourse_task WHERE kind = ? AND priority = ?
      AND available_at <= (SELECT (extract(epoch FROM clock_timestamp()) * 1000000)::bigint)
    ORDER BY available_at LIMIT ? FOR UPDATE SKIP LOCKED)
  UPDATE recourse_task t SET state = 'running', fence = fence + 1, lease = ?, owner = ?,
    available_at = 9223372036854775807
  FROM picked WHERE t.id = picked.id
  RETURNING t.id, t.fence, t.attempts, t.payload, t.headers)sql";

constexpr const char* kArchiveRows = R"sql(
  WITH gone AS (
    DELETE FROM recourse_task t
    USING unnest(?::bytea[], ?::bigint[], ?::bigint[]) AS m (id, fence, attempts)
    WHERE t.id = m.id AND t.fence = m.fence AND t.lease = ?
    RETURNING t.*, m.attempts AS now_attempts)
  INSERT INTO recourse_archive (id, kind, tenant, shard_key, unique_key, priority, payload, headers,
    trace_parent, search_keys, max_retries, timeout_us, deadline_at, backoff, created_at, due_at,
    state, retries, attempts, episode, first_started_at, deaths, fence, lease, error_code,
    error_message, ended_at, ended_by, expires_at)
  SELECT id, kind, tenant, shard_key, unique_key, priority, payload, headers, trace_parent,
    search_keys, max_retries, timeout_us, deadline_at, backoff, created_at, due_at, 'succeeded',
    retries, now_attempts, episode, ?, deaths, fence + 1, lease, error_code, error_message, ?,
    owner, ?
  FROM gone)sql";

std::string_view bytes_of(const Ulid& id) {
  return {reinterpret_cast<const char*>(id.bytes.data()), id.bytes.size()};
}

Param time_param(TimePoint time) {
  return sql::postgres::integer_param(time.time_since_epoch().count());
}

Param null_of(const Param& param) { return {.type = param.type, .binary = std::nullopt}; }

class PostgresLoop final : public LoopLine {
 public:
  PostgresLoop(const std::string& url, std::uint64_t seed)
      : LoopLine(seed),
        connection_(
            must(sql::postgres::connect(url, std::chrono::steady_clock::now() + kPatience))) {
    connection_->set_deadline(sql::Deadline::max());
  }

  void insert(std::span<const store::Submission> batch) override {
    const auto& claim = batch.front().claim;
    std::vector<Param> params{
        sql::postgres::text_param(claim ? "running" : "pending"),
        claim ? time_param(kNever) : null_of(time_param(kNever)),
        sql::postgres::integer_param(claim ? 1 : 0),
        sql::postgres::bytes_param(bytes_of(claim ? claim->lease.value : Ulid())),
        claim ? sql::postgres::text_param(owner()) : null_of(sql::postgres::text_param(""))};
    std::vector<ArrayParam> arrays;
    for (const auto element : {kBytea, kText, kText, kText, kText, kInt8, kBytea, kText, kText,
                               kText, kInt8, kInt8, kInt8, kText, kInt8}) {
      arrays.emplace_back(element).reserve(batch.size(), batch.size() * 16);
    }
    arrays[6].reserve(batch.size(), batch.size() * batch.front().spec.payload.size());
    for (const store::Submission& item : batch) {
      const task::TaskSpec& spec = item.spec;
      arrays[0].add(bytes_of(item.id.value));
      arrays[1].add(spec.kind.value);
      arrays[2].add(spec.tenant.value);
      arrays[3].add(spec.shard_key.value);
      arrays[4].add(spec.unique_key.value);
      arrays[5].add(spec.priority);
      arrays[6].add(spec.payload);
      arrays[7].add("");
      arrays[8].add(spec.trace_parent);
      arrays[9].add("");
      arrays[10].add(spec.max_retries);
      arrays[11].add(spec.timeout.count());
      arrays[12].add_null();
      arrays[13].add(spec.backoff);
      arrays[14].add(store::shard_of(spec.shard_key));
    }
    for (ArrayParam& array : arrays) params.push_back(std::move(array).finish());
    must(connection_->query_with(kInsertRows, params, [](const sql::Row&) {}));
    keep_born(batch);
  }

  std::size_t claim(std::size_t limit) override {
    LoopBatch batch{.lease = new_lease(), .tasks = {}};
    const std::vector<Param> params{
        sql::postgres::text_param(kKind.value), sql::postgres::integer_param(kPriority),
        sql::postgres::integer_param(static_cast<std::int64_t>(limit)),
        sql::postgres::bytes_param(bytes_of(batch.lease)), sql::postgres::text_param(owner())};
    must(connection_->query_with(kClaim, params, [&](const sql::Row& row) {
      LoopTask& task = batch.tasks.emplace_back();
      std::ranges::copy(row.bytes(0), task.id.value.bytes.begin());
      task.fence = row.integer(1);
      task.attempts = row.integer(2);
      task.payload = row.bytes(3);
      task.headers = row.bytes(4);
    }));
    return keep(std::move(batch));
  }

 private:
  void archive(const LoopBatch& batch) override {
    ArrayParam ids(kBytea);
    ArrayParam fences(kInt8);
    ArrayParam attempts(kInt8);
    ids.reserve(batch.tasks.size(), batch.tasks.size() * 16);
    fences.reserve(batch.tasks.size());
    attempts.reserve(batch.tasks.size());
    for (const LoopTask& task : batch.tasks) {
      ids.add(bytes_of(task.id.value));
      fences.add(task.fence);
      attempts.add(task.attempts + 1);
    }
    const TimePoint now = wall_time();
    const std::vector<Param> params{std::move(ids).finish(),
                                    std::move(fences).finish(),
                                    std::move(attempts).finish(),
                                    sql::postgres::bytes_param(bytes_of(batch.lease)),
                                    time_param(now),
                                    time_param(now),
                                    time_param(now + kRetention)};
    must(connection_->query_with(kArchiveRows, params, [](const sql::Row&) {}));
  }

  std::unique_ptr<sql::postgres::PostgresConnection> connection_;
};

}  // namespace

std::unique_ptr<Line> postgres_loop(const std::string& url, std::uint64_t seed) {
  return std::make_unique<PostgresLoop>(url, seed);
}

}  // namespace recourse::bench

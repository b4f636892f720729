#include "bench/store_mariadb_loop.h"

#include <algorithm>
#include <chrono>

#include "base/function_ref.h"
#include "sql/mysql/connect.h"
#include "store/relational/values.h"
#include "store/shard.h"

namespace recourse::bench {
namespace {

using store::relational::Values;

constexpr std::string_view kInsert =
    "INSERT INTO recourse_task (id, kind, tenant, shard_key, unique_key, priority, payload,"
    " headers, trace_parent, search_keys, max_retries, timeout_us, deadline_at, backoff,"
    " created_at, shard, due_at, state, available_at, fence, lease, owner)"
    " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)";
constexpr std::size_t kInsertColumns = 22;

constexpr std::string_view kPick =
    "SELECT id, fence, attempts, payload, headers FROM recourse_task"
    " FORCE INDEX (recourse_task_due) WHERE kind = ? AND priority = ? AND available_at <="
    " TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(6))"
    " ORDER BY available_at LIMIT ? FOR UPDATE SKIP LOCKED";

constexpr std::string_view kMark =
    "UPDATE recourse_task FORCE INDEX (PRIMARY) SET state = 'running',"
    " available_at = 9223372036854775807, fence = fence + 1, lease = ?, owner = ? WHERE id IN ";

// The order and the bound make it walk the primary key also in a young table.
constexpr std::string_view kTakeOutEnd =
    " AND lease = ? AND state = 'running' ORDER BY id LIMIT 1024 RETURNING id, kind, tenant, "
    "shard_key, unique_key,"
    " priority, payload, headers, trace_parent, search_keys, max_retries, timeout_us, deadline_at,"
    " backoff, created_at, due_at, retries, attempts, episode, deaths, fence, owner";

constexpr std::string_view kArchive =
    "INSERT INTO recourse_archive (id, kind, tenant, shard_key, unique_key, priority, payload,"
    " headers, trace_parent, search_keys, max_retries, timeout_us, deadline_at, backoff,"
    " created_at, due_at, retries, attempts, episode, deaths, fence, ended_by, state,"
    " first_started_at, lease, ended_at, expires_at)"
    " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)";
constexpr std::size_t kArchiveColumns = 27;

// One mark for each of `rows`.
std::string list_of(std::size_t rows, std::string_view mark) {
  std::string list = "(";
  for (std::size_t i = 0; i < rows; ++i) list.append(i == 0 ? "" : ",").append(mark);
  return list + ")";
}

class MariadbLoop final : public LoopLine {
 public:
  MariadbLoop(const std::string& url, std::uint64_t seed)
      : LoopLine(seed),
        connection_(must(sql::mysql::connect(url, std::chrono::steady_clock::now() + kPatience))) {
    connection_->set_deadline(sql::Deadline::max());
  }

  void insert(std::span<const store::Submission> batch) override {
    const std::int64_t now = wall_time().time_since_epoch().count();
    Values values;
    values.reserve(batch.size() * kInsertColumns);
    for (const store::Submission& item : batch) add(values, item, now);
    in_transaction([&]() -> Result<> {
      const auto done = connection_->execute_many(kInsert, kInsertColumns, values.view());
      return done ? Result<>{} : fail(done.error());
    });
    keep_born(batch);
  }

  std::size_t claim(std::size_t limit) override {
    LoopBatch batch;
    in_transaction([&]() -> Result<> {
      batch = {.lease = new_lease(), .tasks = {}};
      Values which;
      which.text(kKind.value).integer(kPriority).integer(static_cast<std::int64_t>(limit));
      Result<> picked = connection_->query(kPick, which.view(), [&](const sql::Row& row) {
        LoopTask& task = batch.tasks.emplace_back();
        std::ranges::copy(row.bytes(0), task.id.value.bytes.begin());
        task.fence = row.integer(1) + 1;
        task.attempts = row.integer(2);
        task.payload = row.bytes(3);
        task.headers = row.bytes(4);
      });
      if (!picked || batch.tasks.empty()) return picked;
      Values values;
      values.id(batch.lease).text(owner());
      for (const LoopTask& task : batch.tasks) values.id(task.id.value);
      const auto marked = connection_->execute(
          std::string(kMark) + list_of(batch.tasks.size(), "?"), values.view());
      return marked ? Result<>{} : fail(marked.error());
    });
    return keep(std::move(batch));
  }

 private:
  void add(Values& values, const store::Submission& item, std::int64_t now) const {
    const task::TaskSpec& spec = item.spec;
    values.id(item.id.value)
        .text(spec.kind.value)
        .text(spec.tenant.value)
        .text(spec.shard_key.value)
        .text(spec.unique_key.value)
        .integer(spec.priority)
        .bytes(spec.payload)
        .text("")
        .text(spec.trace_parent)
        .text("")
        .integer(spec.max_retries)
        .integer(spec.timeout.count())
        .null()
        .text(spec.backoff)
        .integer(now)
        .integer(store::shard_of(spec.shard_key))
        .integer(now)
        .text(item.claim ? "running" : "pending")
        .integer(item.claim ? kNever.time_since_epoch().count() : now)
        .integer(item.claim ? 1 : 0)
        .id(item.claim ? item.claim->lease.value : Ulid());
    if (item.claim) {
      values.text(owner());
    } else {
      values.null();
    }
  }

  void archive(const LoopBatch& batch) override {
    in_transaction([&]() -> Result<> {
      Values which;
      for (const LoopTask& task : batch.tasks) which.id(task.id.value);
      which.id(batch.lease);
      const TimePoint now = wall_time();
      Values rows;
      rows.reserve(batch.tasks.size() * kArchiveColumns);
      Result<> gone = connection_->query(
          "DELETE FROM recourse_task WHERE id IN " + list_of(batch.tasks.size(), "?") +
              std::string(kTakeOutEnd),
          which.view(), [&](const sql::Row& row) { add_archived(rows, row, batch.lease, now); });
      if (!gone) return gone;
      const auto copied = connection_->execute_many(kArchive, kArchiveColumns, rows.view());
      return copied ? Result<>{} : fail(copied.error());
    });
  }

  static void add_archived(Values& rows, const sql::Row& row, const Ulid& lease, TimePoint now) {
    const auto bytes = [&](std::size_t column) { rows.kept_bytes(std::string(row.bytes(column))); };
    for (std::size_t column = 0; column < 5; ++column) bytes(column);
    rows.integer(row.integer(5));
    for (std::size_t column = 6; column < 10; ++column) bytes(column);
    rows.integer(row.integer(10)).integer(row.integer(11)).null();
    bytes(13);
    for (std::size_t column = 14; column < 17; ++column) rows.integer(row.integer(column));
    rows.integer(row.integer(17) + 1).integer(row.integer(18)).integer(row.integer(19));
    rows.integer(row.integer(20) + 1);
    bytes(21);
    rows.text("succeeded").time(now).id(lease).time(now).time(now + kRetention);
  }

  void in_transaction(FunctionRef<Result<>()> work) {
    while (true) {
      must(connection_->begin());
      Result<> done = work();
      if (done) done = connection_->commit();
      if (done) return;
      connection_->rollback();
      if (done.error().code != ErrorCode::kConflict) give_up(done.error().message);
    }
  }

  std::unique_ptr<sql::mysql::Session> connection_;
};

}  // namespace

std::unique_ptr<Line> mariadb_loop(const std::string& url, std::uint64_t seed) {
  return std::make_unique<MariadbLoop>(url, seed);
}

}  // namespace recourse::bench

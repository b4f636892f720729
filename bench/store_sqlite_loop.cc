#include "bench/store_sqlite_loop.h"

#include <sqlite3.h>

#include <string_view>

#include "store/shard.h"

namespace recourse::bench {
namespace {

struct CloseHandle {
  void operator()(sqlite3* handle) const noexcept { sqlite3_close_v2(handle); }
};
struct FinalizeStatement {
  void operator()(sqlite3_stmt* statement) const noexcept { sqlite3_finalize(statement); }
};

// A prepared statement, bound from left to right.
class Prepared {
 public:
  Prepared(sqlite3* handle, std::string_view text) : handle_(handle) {
    sqlite3_stmt* raw = nullptr;
    check(sqlite3_prepare_v3(handle, text.data(), static_cast<int>(text.size()),
                             SQLITE_PREPARE_PERSISTENT, &raw, nullptr));
    statement_.reset(raw);
  }

  Prepared& integer(std::int64_t value) {
    sqlite3_bind_int64(statement_.get(), ++bound_, value);
    return *this;
  }
  Prepared& time(TimePoint value) { return integer(value.time_since_epoch().count()); }
  Prepared& text(std::string_view value) {
    sqlite3_bind_text(statement_.get(), ++bound_, value.empty() ? "" : value.data(),
                      static_cast<int>(value.size()), SQLITE_STATIC);
    return *this;
  }
  Prepared& bytes(std::string_view value) {
    sqlite3_bind_blob(statement_.get(), ++bound_, value.empty() ? "" : value.data(),
                      static_cast<int>(value.size()), SQLITE_STATIC);
    return *this;
  }
  Prepared& id(const Ulid& value) {
    return bytes({reinterpret_cast<const char*>(value.bytes.data()), value.bytes.size()});
  }
  Prepared& null() {
    sqlite3_bind_null(statement_.get(), ++bound_);
    return *this;
  }

  // False after the last row; then it is ready for the next use.
  bool step() {
    const int code = sqlite3_step(statement_.get());
    if (code == SQLITE_ROW) return true;
    if (code != SQLITE_DONE) check(code);
    sqlite3_reset(statement_.get());
    bound_ = 0;
    return false;
  }
  void run() {
    while (step()) continue;
  }

  [[nodiscard]] std::int64_t number(int column) const {
    return sqlite3_column_int64(statement_.get(), column);
  }
  [[nodiscard]] std::string_view blob(int column) const {
    const auto* data = static_cast<const char*>(sqlite3_column_blob(statement_.get(), column));
    return {data, static_cast<std::size_t>(sqlite3_column_bytes(statement_.get(), column))};
  }

 private:
  void check(int code) const {
    if (code != SQLITE_OK) give_up(sqlite3_errmsg(handle_));
  }

  sqlite3* handle_;
  std::unique_ptr<sqlite3_stmt, FinalizeStatement> statement_;
  int bound_ = 0;
};

std::unique_ptr<sqlite3, CloseHandle> open(const std::string& path) {
  sqlite3* raw = nullptr;
  const int code =
      sqlite3_open_v2(path.c_str(), &raw, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, nullptr);
  std::unique_ptr<sqlite3, CloseHandle> handle(raw);
  if (code != SQLITE_OK) give_up(sqlite3_errmsg(raw));
  sqlite3_exec(raw,
               "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA temp_store = MEMORY;"
               "PRAGMA cache_size = -65536; PRAGMA journal_size_limit = 67108864",
               nullptr, nullptr, nullptr);
  return handle;
}

class SqliteLoop final : public LoopLine {
 public:
  SqliteLoop(const std::string& path, std::uint64_t seed) : LoopLine(seed), handle_(open(path)) {}

  void insert(std::span<const store::Submission> batch) override {
    const TimePoint now = wall_time();
    begin_.run();
    for (const store::Submission& item : batch) {
      const task::TaskSpec& spec = item.spec;
      insert_.id(item.id.value)
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
          .time(now)
          .integer(store::shard_of(spec.shard_key))
          .time(now)
          .text(item.claim ? "running" : "pending")
          .time(item.claim ? kNever : now)
          .integer(item.claim ? 1 : 0)
          .id(item.claim ? item.claim->lease.value : Ulid());
      if (item.claim) {
        insert_.text(owner());
      } else {
        insert_.null();
      }
      insert_.run();
    }
    commit_.run();
    keep_born(batch);
  }

  std::size_t claim(std::size_t limit) override {
    LoopBatch batch{.lease = new_lease(), .tasks = {}};
    begin_.run();
    claim_.time(kNever)
        .id(batch.lease)
        .text(owner())
        .text(kKind.value)
        .integer(kPriority)
        .time(wall_time())
        .integer(static_cast<std::int64_t>(limit));
    while (claim_.step()) {
      LoopTask& task = batch.tasks.emplace_back();
      std::ranges::copy(claim_.blob(0), task.id.value.bytes.begin());
      task.fence = claim_.number(1);
      task.attempts = claim_.number(2);
      task.payload = claim_.blob(3);
      task.headers = claim_.blob(4);
    }
    commit_.run();
    return keep(std::move(batch));
  }

 private:
  void archive(const LoopBatch& batch) override {
    const TimePoint now = wall_time();
    begin_.run();
    for (const LoopTask& task : batch.tasks) {
      copy_.integer(task.attempts + 1)
          .time(now)
          .integer(task.fence + 1)
          .time(now)
          .text(owner())
          .time(now + kRetention)
          .id(task.id.value)
          .integer(task.fence)
          .id(batch.lease)
          .run();
      delete_.id(task.id.value).run();
    }
    commit_.run();
  }

  std::unique_ptr<sqlite3, CloseHandle> handle_;
  Prepared begin_{handle_.get(), "BEGIN IMMEDIATE"};
  Prepared commit_{handle_.get(), "COMMIT"};
  Prepared insert_{
      handle_.get(),
      "INSERT INTO recourse_task (id, kind, tenant, shard_key, unique_key, priority, payload,"
      " headers, trace_parent, search_keys, max_retries, timeout_us, deadline_at, backoff,"
      " created_at, shard, due_at, state, available_at, fence, lease, owner)"
      " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"};
  Prepared claim_{
      handle_.get(),
      "UPDATE recourse_task SET state = 'running', available_at = ?, fence = fence + 1, lease = ?,"
      " owner = ? WHERE rowid IN (SELECT rowid FROM recourse_task WHERE kind = ? AND priority = ?"
      " AND available_at <= ? ORDER BY available_at LIMIT ?)"
      " RETURNING id, fence, attempts, payload, headers"};
  // Nobody else writes: what the condition lets through is what is deleted.
  Prepared copy_{
      handle_.get(),
      "INSERT INTO recourse_archive (id, kind, tenant, shard_key, unique_key, priority, payload,"
      " headers, trace_parent, search_keys, max_retries, timeout_us, deadline_at, backoff,"
      " created_at, due_at, state, retries, attempts, episode, first_started_at, deaths, fence,"
      " lease, error_code, error_message, ended_at, ended_by, expires_at)"
      " SELECT id, kind, tenant, shard_key, unique_key, priority, payload, headers, trace_parent,"
      " search_keys, max_retries, timeout_us, deadline_at, backoff, created_at, due_at,"
      " 'succeeded', retries, ?, episode, ?, deaths, ?, lease, error_code, error_message, ?, ?, ?"
      " FROM recourse_task WHERE id = ? AND fence = ? AND lease = ?"};
  Prepared delete_{handle_.get(), "DELETE FROM recourse_task WHERE id = ?"};
};

}  // namespace

std::unique_ptr<Line> sqlite_loop(const std::string& path, std::uint64_t seed) {
  return std::make_unique<SqliteLoop>(path, seed);
}

}  // namespace recourse::bench

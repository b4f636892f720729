#include "tests/support/bulk_rows.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>

namespace recourse::tests {
namespace {

// A statement of more rows would meet the servers' own limits of time.
constexpr std::size_t kRowsPerStatement = 100'000;

struct Numbers {
  std::size_t first;
  std::size_t last;
};

// Yields a column n.
std::string series(Database database, const Numbers& numbers) {
  switch (database) {
    case Database::kPostgres:
      return fmt::format("SELECT n FROM generate_series({}, {}) AS numbers (n)", numbers.first,
                         numbers.last);
    case Database::kMariadb:
      return fmt::format("SELECT seq AS n FROM seq_{}_to_{}", numbers.first, numbers.last);
    case Database::kSqlite:
      return fmt::format(
          "WITH RECURSIVE numbers (n) AS (SELECT {} UNION ALL SELECT n + 1 FROM numbers"
          " WHERE n < {}) SELECT n FROM numbers",
          numbers.first, numbers.last);
  }
  std::abort();
}

// 16 bytes that ascend with n. The first is 1, as it is in today's ids; the second is a digit, and
// so the whole is older than they are. `table` tells live rows from finished ones.
std::string id_of(Database database, char table) {
  switch (database) {
    case Database::kPostgres:
      return fmt::format(R"('\x01'::bytea || convert_to('{}' || lpad(n::text, 14, '0'), 'UTF8'))",
                         table);
    case Database::kMariadb: return fmt::format("CONCAT(0x01, '{}', LPAD(n, 14, '0'))", table);
    case Database::kSqlite:
      return fmt::format("CAST(char(1) || '{}' || printf('%014d', n) AS BLOB)", table);
  }
  std::abort();
}

std::string no_bytes(Database database, std::string_view hex) {
  if (database == Database::kPostgres) return fmt::format(R"('\x{}'::bytea)", hex);
  return fmt::format("X'{}'", hex);
}

constexpr const char* kNoLease = "00000000000000000000000000000000";

Result<> run_in_steps(Database database, sql::Connection& connection, const BulkTasks& tasks,
                      const std::string& insert) {
  connection.set_deadline(std::chrono::steady_clock::now() + std::chrono::minutes(10));
  for (std::size_t done = 0; done < tasks.count; done += kRowsPerStatement) {
    const std::size_t rows = std::min(kRowsPerStatement, tasks.count - done);
    const Numbers numbers{tasks.first + done, tasks.first + done + rows - 1};
    Result<> ran = connection.run(insert + " FROM (" + series(database, numbers) + ") numbered");
    if (!ran) return ran;
  }
  return {};
}

}  // namespace

std::string to_string(Database database) {
  switch (database) {
    case Database::kPostgres: return "Postgres";
    case Database::kMariadb: return "Mariadb";
    case Database::kSqlite: return "Sqlite";
  }
  std::abort();
}

Result<> add_waiting(Database database, sql::Connection& connection, const BulkTasks& tasks,
                     TimePoint due) {
  const auto time = due.time_since_epoch().count();
  return run_in_steps(
      database, connection, tasks,
      fmt::format("INSERT INTO recourse_task (id, kind, tenant, shard_key, unique_key, priority,"
                  " payload, headers, trace_parent, search_keys, max_retries, timeout_us, backoff,"
                  " created_at, shard, due_at, state, available_at, fence, lease)"
                  " SELECT {}, '{}', 'acme', '', '', {}, {}, '', '', '', 5, 10000000, '', n,"
                  " n % 256, {} + n, 'pending', {} + n, 0, {}",
                  id_of(database, '0'), tasks.kind, tasks.priority, no_bytes(database, "7B7D"),
                  time, time, no_bytes(database, kNoLease)));
}

Result<> add_finished(Database database, sql::Connection& connection, const BulkTasks& tasks,
                      TimePoint expires) {
  const auto time = expires.time_since_epoch().count();
  return run_in_steps(
      database, connection, tasks,
      fmt::format("INSERT INTO recourse_archive (id, kind, tenant, shard_key, unique_key, priority,"
                  " payload, headers, trace_parent, search_keys, max_retries, timeout_us, backoff,"
                  " created_at, due_at, state, retries, attempts, episode, deaths, fence, lease,"
                  " ended_at, expires_at)"
                  " SELECT {}, '{}', 'acme', '', '', {}, {}, '', '', '', 5, 10000000, '', n, n,"
                  " 'succeeded', 0, 1, 1, 0, 2, {}, n + 1, {} + n",
                  id_of(database, '1'), tasks.kind, tasks.priority, no_bytes(database, "7B7D"),
                  no_bytes(database, kNoLease), time));
}

}  // namespace recourse::tests

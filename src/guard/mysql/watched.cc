#include "guard/mysql/watched.h"

#include <fmt/format.h>

#include <atomic>
#include <chrono>
#include <optional>
#include <stop_token>
#include <thread>

namespace recourse::guard::mysql {
namespace {

using std::chrono::steady_clock;

// What others may have to wait is 50 ms; the rest is for looking, killing and being told.
constexpr std::chrono::milliseconds kPatience(15);
constexpr std::chrono::milliseconds kLookEvery(3);

Result<std::int64_t> id_of(sql::Connection& connection) {
  std::int64_t id = 0;
  const Result<> asked = connection.query("SELECT CONNECTION_ID()", {},
                                          [&](const sql::Row& row) { id = row.integer(0); });
  if (!asked) return fail(asked.error());
  return id;
}

// Whether the session stands in the queue for a whole table.
Result<bool> is_waiting(sql::Connection& watcher, std::int64_t session) {
  bool waiting = false;
  const sql::Value value = session;
  const Result<> asked = watcher.query(
      "SELECT COUNT(*) FROM information_schema.processlist"
      " WHERE id = ? AND state LIKE 'Waiting for table metadata lock%'",
      std::span(&value, 1), [&](const sql::Row& row) { waiting = row.integer(0) > 0; });
  if (!asked) return fail(asked.error());
  return waiting;
}

// True: it was ended. Until it is done, or cannot be seen any more: then the server's own patience
// ends the wait.
bool watch(sql::Connection& watcher, std::int64_t session, const std::stop_token& done,
           const std::stop_token& stop) {
  std::optional<steady_clock::time_point> since;
  while (!done.stop_requested()) {
    const Result<bool> waiting = is_waiting(watcher, session);
    if (!waiting) return false;
    if (!*waiting) since.reset();
    if (*waiting && !since) since = steady_clock::now();
    const bool is_in_the_way = since && steady_clock::now() - *since >= kPatience;
    if (is_in_the_way || stop.stop_requested())
      return watcher.run(fmt::format("KILL QUERY {}", session)).has_value();
    std::this_thread::sleep_for(kLookEvery);
  }
  return false;
}

}  // namespace

Result<> run_watched(sql::Connection& connection, const std::string& statement,
                     const Surroundings& around) {
  const Result<std::int64_t> session = id_of(connection);
  if (!session) return fail(session.error());
  std::atomic<bool> ended = false;
  Result<> done;
  const Result<> watched = around.beside([&](sql::Connection& watcher) -> Result<> {
    const std::jthread thread([&](const std::stop_token& ends) {
      if (watch(watcher, *session, ends, around.stop)) ended = true;
    });
    done = connection.run(statement);
    return {};
  });
  if (!watched) return watched;
  if (!done && ended)
    return fail(ErrorCode::kExhausted, "the table was in use: " + done.error().message);
  return done;
}

}  // namespace recourse::guard::mysql

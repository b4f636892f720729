#include "guard/mysql/watched.h"

#include <fmt/format.h>

#include <atomic>
#include <chrono>
#include <optional>
#include <stop_token>
#include <thread>

#include "sql/second_socket.h"

namespace recourse::guard::mysql {
namespace {

using std::chrono::steady_clock;

// What others may have to wait is 50 ms; the rest is for looking, killing and being told.
constexpr std::chrono::milliseconds kPatience(15);
constexpr std::chrono::milliseconds kLookEvery(3);
// It waits at its beginning and at its end, and between them it may build for hours.
constexpr std::chrono::seconds kAtItsBeginning(1);
constexpr std::chrono::milliseconds kLookLaterEvery(8);

Result<std::int64_t> id_of(sql::Connection& connection) {
  std::int64_t id = 0;
  const Result<> asked = connection.query("SELECT CONNECTION_ID()", {},
                                          [&](const sql::Row& row) { id = row.integer(0); });
  if (!asked) return fail(asked.error());
  return id;
}

struct Seen {
  bool runs = false;
  // It stands in the queue for the whole table.
  bool waits = false;
};

// Only where it is at a change of a table: behind a proxy the number may be a stranger's.
Result<Seen> look_at(sql::Connection& watcher, std::int64_t session) {
  Seen seen;
  const sql::Value value = session;
  const Result<> asked = watcher.query(
      "SELECT CAST(COALESCE(state, '') LIKE 'Waiting for table metadata lock%' AS SIGNED)"
      " FROM information_schema.processlist WHERE id = ? AND info LIKE 'ALTER TABLE%'",
      std::span(&value, 1),
      [&](const sql::Row& row) { seen = {.runs = true, .waits = row.integer(0) != 0}; });
  if (!asked) return fail(asked.error());
  return seen;
}

// Until it is done: whether it was ended. A word that came too early to be heard is said again.
Result<bool> watch(sql::Connection& watcher, std::int64_t session, const std::stop_token& done,
                   const std::stop_token& stop) {
  const auto begun = steady_clock::now();
  std::optional<steady_clock::time_point> since;
  bool ended = false;
  while (!done.stop_requested()) {
    const Result<Seen> seen = look_at(watcher, session);
    if (!seen) return fail(seen.error());
    const auto now = steady_clock::now();
    if (!seen->waits) since.reset();
    if (seen->waits && !since) since = now;
    const bool is_in_the_way = since && now - *since >= kPatience;
    if (seen->runs && (is_in_the_way || stop.stop_requested())) {
      const Result<> told = watcher.run(fmt::format("KILL QUERY {}", session));
      if (!told) return fail(told.error());
      ended = true;
    }
    std::this_thread::sleep_for(now - begun < kAtItsBeginning ? kLookEvery : kLookLaterEvery);
  }
  return ended;
}

// Nobody sees it any more, and the server's own patience ends its waits. A stop leaves it.
void leave_on_stop(const sql::SecondSocket& socket, const std::stop_token& done,
                   const std::stop_token& stop) {
  while (!done.stop_requested()) {
    if (stop.stop_requested()) return socket.shut_down();
    std::this_thread::sleep_for(kLookLaterEvery);
  }
}

}  // namespace

Result<> run_watched(sql::Connection& connection, const std::string& statement,
                     const Surroundings& around) {
  const Result<std::int64_t> session = id_of(connection);
  if (!session) return fail(session.error());
  const sql::SecondSocket socket(connection.socket());
  std::atomic<bool> ended = false;
  Result<> done;
  const Result<> watched = around.beside([&](sql::Connection& watcher) -> Result<> {
    const std::jthread thread([&](const std::stop_token& ends) {
      const Result<bool> seen = watch(watcher, *session, ends, around.stop);
      if (seen) ended = *seen;
      if (!seen) leave_on_stop(socket, ends, around.stop);
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

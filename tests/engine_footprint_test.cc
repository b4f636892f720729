// What an engine costs that has nothing to do, and one that has done a lot.
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <array>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <sstream>
#include <string>
#include <thread>

#include "recourse/engine.h"
#include "sql/postgres/connect.h"
#include "tests/engine_fixture.h"
#include "tests/engine_load_support.h"
#include "tests/support/full_form.h"
#include "tests/support/private_server.h"

namespace recourse::tests {
namespace {

Duration processor_time() {
  rusage use{};
  ::getrusage(RUSAGE_SELF, &use);
  const auto of = [](const timeval& time) {
    return Duration(std::chrono::seconds(time.tv_sec)) + std::chrono::microseconds(time.tv_usec);
  };
  return of(use.ru_utime) + of(use.ru_stime);
}

// Transactions that ended in the database, as the server counts them for us. A session reports what
// it did at most once a second, and what is left after ten: some come late.
std::int64_t transactions(sql::Connection& elsewhere, const std::string& database) {
  std::int64_t count = -1;
  const std::array<sql::Value, 1> values{sql::Text{database}};
  elsewhere.set_deadline(Stopwatch::now() + 10s);
  const auto asked =
      elsewhere.query("SELECT xact_commit + xact_rollback FROM pg_stat_database WHERE datname = ?",
                      values, [&](const sql::Row& row) { count = row.integer(0); });
  EXPECT_TRUE(asked) << asked.error().message;
  return count;
}

// A quiet engine wakes for a scan and a heartbeat, and for nothing else.
TEST(IdleEngine, AsksOnceASecondAtMostAndHardlyUsesTheProcessor) {
  const Duration watched = is_measuring() ? 60s : 5s;
  PrivateServer server(ServerKind::kPostgres);
  auto elsewhere =
      sql::postgres::connect(with_database(server.url(), "template1"), Stopwatch::now() + 10s)
          .value();
  // Its transactions are counted like everybody's.
  ASSERT_TRUE(elsewhere->run("ALTER SYSTEM SET autovacuum = off"));
  ASSERT_TRUE(elsewhere->run("SELECT pg_reload_conf()"));
  Engine engine = Engine::open({.store = server.url()}).value();
  engine.handle_bytes("work", [](const Attempt&) { return done(); });
  ASSERT_TRUE(engine.start());
  const std::string id = engine.submit_bytes("work", "{}").value();
  ASSERT_TRUE(eventually([&] { return engine.find(id).value().state == "succeeded"; }));
  // Until what came with the start is over, and in the long form reported too.
  std::this_thread::sleep_for(is_measuring() ? 12s : 3s);

  const std::int64_t asked_before = transactions(*elsewhere, "postgres");
  const Duration used_before = processor_time();
  std::this_thread::sleep_for(watched);
  const Duration used = processor_time() - used_before;
  const std::int64_t asked = transactions(*elsewhere, "postgres") - asked_before;

  // Two more at most that had not been reported before.
  EXPECT_LE(asked, watched / 1s + 2);
  EXPECT_GT(asked, 0) << "nothing was counted: the test says nothing";
  const double share = std::chrono::duration<double>(used) / std::chrono::duration<double>(watched);
  // The process's own time: other work on the machine hardly counts. In the short form a few
  // milliseconds of work that comes once would be over the narrow limit.
  EXPECT_LE(share, is_measuring() ? 0.001 : 0.05);
  RecordProperty("transactions", static_cast<int>(asked));
  RecordProperty("processor_us", static_cast<int>(used / 1us));
}

TEST(BusyEngine, NeedsLittleMemoryAfterManyTasks) {
  if (!is_measuring()) GTEST_SKIP() << kMeasuredInFull;
  const TemporaryDirectory directory;
  const std::string command =
      std::string(ENGINE_LIVES) + " sqlite:" + (directory.path() / "engine.db").string() + " 50000";

  std::FILE* lives = ::popen(command.c_str(), "r");
  ASSERT_NE(lives, nullptr);
  std::array<char, 128> line{};
  EXPECT_NE(std::fgets(line.data(), line.size(), lives), nullptr);
  EXPECT_EQ(::pclose(lives), 0);

  std::istringstream words(line.data());
  std::int64_t resident = 0;
  std::int64_t most = 0;
  words >> resident >> most;
  EXPECT_GT(resident, 0);
  EXPECT_LE(resident, 40'000'000);
  RecordProperty("resident_kb", static_cast<int>(resident / 1'000));
  RecordProperty("most_kb", static_cast<int>(most / 1'000));
}

}  // namespace
}  // namespace recourse::tests

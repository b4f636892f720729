// Two processes on one database, one of them killed again and again, or stopped and continued.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <fstream>
#include <map>
#include <memory>
#include <set>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "base/clock.h"
#include "recourse/engine.h"
#include "tests/support/full_form.h"
#include "tests/support/place.h"
#include "tests/support/private_server.h"
#include "tests/support/temporary_directory.h"
#include "tests/support/test_servers.h"

namespace recourse::tests {
namespace {

using namespace std::chrono_literals;

constexpr Duration kTtl = 1s;
// The normal run shares its machine with compilers: there two starved processes may be late, but
// neither may wait for anything but the end of the lease.
Duration slack() { return is_measuring() ? Duration(500ms) : Duration(5s); }

class NodeProcess {
 public:
  NodeProcess(std::string url, std::string ledger, int per_second, int handler_ms)
      : arguments_{ENGINE_NODE, std::move(url), std::move(ledger), std::to_string(per_second),
                   std::to_string(handler_ms)} {
    start();
  }
  ~NodeProcess() {
    if (pid_ > 0) kill(SIGKILL);
  }
  NodeProcess(const NodeProcess&) = delete;
  NodeProcess& operator=(const NodeProcess&) = delete;

  void start() {
    pid_ = ::fork();
    if (pid_ != 0) return;
    std::vector<char*> words;
    for (std::string& word : arguments_) words.push_back(word.data());
    words.push_back(nullptr);
    ::execv(words[0], words.data());
    ::_exit(127);
  }
  void signal(int number) const { ::kill(pid_, number); }
  void stop() const {
    signal(SIGSTOP);
    ::waitpid(pid_, nullptr, WUNTRACED);
  }
  // And waits for its end; answers its exit status.
  int kill(int number) {
    signal(number);
    int status = -1;
    ::waitpid(pid_, &status, 0);
    pid_ = 0;
    return status;
  }

 private:
  std::vector<std::string> arguments_;
  pid_t pid_ = 0;
};

struct HandlerRun {
  std::int64_t fence = 0;
  std::int64_t started = 0;
  std::optional<std::int64_t> ended;
  bool by_victim = false;
};

// What the processes wrote down.
struct Books {
  std::set<std::string> acknowledged;
  std::map<std::string, std::vector<HandlerRun>> runs;

  void read(const std::string& path, bool by_victim) {
    std::ifstream file(path);
    std::string line;
    while (std::getline(file, line)) {
      std::istringstream words(line);
      std::string what;
      std::string id;
      std::int64_t fence = 0;
      std::int64_t at = 0;
      words >> what >> id >> fence >> at;
      if (what == "A") acknowledged.insert(id);
      if (what == "S") {
        runs[id].push_back(
            {.fence = fence, .started = at, .ended = std::nullopt, .by_victim = by_victim});
      }
      if (what != "E") continue;
      for (HandlerRun& run : runs[id]) {
        if (run.fence == fence && run.by_victim == by_victim) run.ended = at;
      }
    }
  }
};

class TwoNodes : public ::testing::TestWithParam<ServerKind> {
 protected:
  TwoNodes() {
    if (GetParam() == ServerKind::kPostgres) {
      postgres_ = std::make_unique<FreshPostgres>();
    } else {
      mariadb_ = std::make_unique<FreshMariadb>();
    }
    // The tables, before two processes want them.
    (void)Engine::open({.store = url()}).value();
  }

  [[nodiscard]] std::string url() const { return postgres_ ? postgres_->url() : mariadb_->url(); }
  [[nodiscard]] std::string ledger(const std::string& name) const {
    return (folder_.path() / name).string();
  }
  [[nodiscard]] std::int64_t now() const { return clock_.since_boot().time_since_epoch().count(); }

  // Until nothing is left to do.
  bool drained(Duration within) {
    Engine watcher = Engine::open({.store = url()}).value();
    const auto until = std::chrono::steady_clock::now() + within;
    while (std::chrono::steady_clock::now() < until) {
      auto counts = watcher.counts().value();
      if (counts[{"work", "pending"}] == 0 && counts[{"work", "running"}] == 0) return true;
      std::this_thread::sleep_for(50ms);
    }
    return false;
  }

  Books books() {
    Books books;
    books.read(ledger("steady"), false);
    books.read(ledger("victim"), true);
    return books;
  }

  // Stops it in the middle of a handler that began after a moment.
  [[nodiscard]] bool stopped_at_work(const NodeProcess& victim, std::int64_t since) {
    return eventually(
        [&] {
          victim.stop();
          for (const auto& [id, runs] : books().runs) {
            for (const HandlerRun& run : runs) {
              if (run.by_victim && !run.ended && run.started >= since) return true;
            }
          }
          victim.signal(SIGCONT);
          return false;
        },
        30s);
  }

  TemporaryDirectory folder_;
  SystemClock clock_;
  std::unique_ptr<FreshPostgres> postgres_;
  std::unique_ptr<FreshMariadb> mariadb_;
};

// I1, I5, I6; LEASE-4
TEST_P(TwoNodes, NothingAcknowledgedIsLostWhenOneIsKilledAgainAndAgain) {
  const int kills = is_full() ? 30 : 3;
  NodeProcess steady(url(), ledger("steady"), 250, 20);
  NodeProcess victim(url(), ledger("victim"), 250, 20);
  std::vector<std::int64_t> killed_at;
  for (int i = 0; i < kills; ++i) {
    const std::int64_t started_at = now();
    std::this_thread::sleep_for(4s);
    ASSERT_TRUE(stopped_at_work(victim, started_at));
    killed_at.push_back(now());
    victim.kill(SIGKILL);
    victim.start();
  }
  std::this_thread::sleep_for(2s);
  EXPECT_EQ(victim.kill(SIGTERM), 0);
  EXPECT_EQ(steady.kill(SIGTERM), 0);
  NodeProcess last(url(), ledger("steady"), 0, 1);
  EXPECT_TRUE(drained(20s));
  last.kill(SIGKILL);

  const Books all = books();
  Engine reader = Engine::open({.store = url()}).value();
  // Under load: 500 a second are asked for, a busy machine has fewer.
  EXPECT_GT(all.acknowledged.size(), static_cast<std::size_t>(kills) * 4 * 100);
  for (const std::string& id : all.acknowledged) {
    const auto task = reader.find(id);
    ASSERT_TRUE(task) << id << " was acknowledged and is gone: " << task.error().message;
    EXPECT_EQ(task->state, "succeeded") << id;
  }
  int taken_over = 0;
  for (const auto& [id, runs] : all.runs) {
    std::set<std::int64_t> fences;
    for (const HandlerRun& run : runs) {
      EXPECT_TRUE(fences.insert(run.fence).second) << id << " ran twice under one fence";
    }
    for (std::size_t i = 0; i + 1 < runs.size(); ++i) {
      // Only what a dying process had begun runs again.
      EXPECT_TRUE(runs[i].by_victim || runs[i + 1].by_victim) << id;
    }
    for (const HandlerRun& lost : runs) {
      if (!lost.by_victim || lost.ended) continue;
      const auto kill = std::ranges::lower_bound(killed_at, lost.started);
      ASSERT_NE(kill, killed_at.end()) << id << " was begun, and neither ended nor killed";
      for (const HandlerRun& next : runs) {
        if (next.fence <= lost.fence) continue;
        ++taken_over;
        EXPECT_LE(next.started - *kill, (kTtl * 3 / 2 + slack()).count()) << id;
        break;
      }
    }
  }
  EXPECT_GE(taken_over, kills) << "each kill hit a running handler";
}

// I5, LEASE-4: a zombie's late commits are refused.
TEST_P(TwoNodes, AStoppedProcessThatGoesOnHasItsLateCommitsRefused) {
  NodeProcess steady(url(), ledger("steady"), 0, 20);
  NodeProcess victim(url(), ledger("victim"), 100, 300);
  ASSERT_TRUE(stopped_at_work(victim, 0));
  const std::int64_t stopped_at = now();
  std::this_thread::sleep_for(kTtl * 3);
  const std::int64_t continued_at = now();
  victim.signal(SIGCONT);
  std::this_thread::sleep_for(2s);
  EXPECT_EQ(victim.kill(SIGTERM), 0);
  EXPECT_TRUE(drained(20s));
  EXPECT_EQ(steady.kill(SIGTERM), 0);

  const Books all = books();
  Engine reader = Engine::open({.store = url()}).value();
  for (const std::string& id : all.acknowledged) {
    EXPECT_EQ(reader.find(id).value().state, "succeeded") << id;
  }
  int zombies = 0;
  for (const auto& [id, runs] : all.runs) {
    for (const HandlerRun& run : runs) {
      const bool spans =
          run.by_victim && run.started < stopped_at && run.ended && *run.ended >= continued_at;
      if (!spans) continue;
      ++zombies;
      EXPECT_GT(runs.size(), 1U) << id << ": the zombie's result was taken";
    }
  }
  EXPECT_GT(zombies, 0);
}

INSTANTIATE_TEST_SUITE_P(Servers, TwoNodes,
                         ::testing::Values(ServerKind::kPostgres, ServerKind::kMariadb),
                         [](const auto& kind) { return name_of(kind.param); });

}  // namespace
}  // namespace recourse::tests

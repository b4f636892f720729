// What a node holds of a backlog that is larger than all its bounds.
#include <gtest/gtest.h>
#include <malloc.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <fstream>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/log.h"
#include "embed/open_store.h"
#include "engine/node.h"
#include "recourse/engine.h"
#include "tests/engine_fixture.h"
#include "tests/engine_load_support.h"
#include "tests/support/full_form.h"

namespace recourse::tests {
namespace {

constexpr std::size_t kMiB = std::size_t{1024} * 1024;
constexpr std::size_t kLargestPayload = std::size_t{256} * 1024;

// Of this process.
std::size_t resident_bytes() {
  std::ifstream statm("/proc/self/statm");
  std::size_t pages = 0;
  std::size_t resident = 0;
  statm >> pages >> resident;
  return resident * static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
}

struct Most {
  std::size_t tasks = 0;
  std::size_t bytes = 0;
  std::size_t memory = 0;
};

class Backlog : public ::testing::TestWithParam<const char*> {
 protected:
  // By an engine that has no handler for them, and is gone afterwards.
  void put_in(int tasks, std::size_t payload, int kinds) {
    Engine submitter = Engine::open({.store = place_.url()}).value();
    ASSERT_TRUE(submitter.start());
    // Within what may wait to be written.
    const int most = payload > 1'000 ? 16 : 5'000;
    for (int sent = 0; sent < tasks;) {
      std::vector<Submission> batch;
      for (; sent < tasks && std::ssize(batch) < most; ++sent) {
        batch.push_back({.kind = kind(sent % kinds), .payload = std::string(payload, 'x')});
      }
      for (const auto& id : submitter.submit_all(std::move(batch))) {
        ASSERT_TRUE(id) << id.error().message;
      }
    }
    submitter.stop(5s);
  }

  static std::string kind(int number) { return "work-" + std::to_string(number); }

  // A node whose handlers block, for as long as it takes more and a while longer.
  Most what_a_blocked_node_holds(const engine::HoldSettings& hold, int kinds) {
    ::malloc_trim(0);  // what the submitter has freed must not hide what the node takes
    const std::size_t before = resident_bytes();
    embed::NamedStore store = embed::open_store(place_.url(), clock_, log_, 6).value();
    engine::NodeSettings settings;
    settings.hold = hold;
    settings.scan = {.initial_delay = 10ms, .period = 100ms};
    settings.exclusive_store = store.exclusive;
    engine::Node node(*store.opened, clock_, log_, settings, 7);
    std::atomic<int> running = 0;
    const auto block = [&](const std::shared_ptr<engine::AttemptRun>& run) {
      ++running;
      while (!run->stop_token().stop_requested()) std::this_thread::sleep_for(5ms);
    };
    for (int i = 0; i < kinds; ++i) {
      EXPECT_TRUE(node.handle(kind(i), {}, block));
    }
    EXPECT_TRUE(node.start());
    EXPECT_TRUE(eventually([&] { return running > 0; }));
    Most most;
    const auto until = Stopwatch::now() + (is_measuring() ? 10s : 800ms);
    while (Stopwatch::now() < until) {
      const engine::Core::Status status = node.status();
      most.tasks = std::max(most.tasks, status.held);
      most.bytes = std::max(most.bytes, status.held_bytes);
      most.memory = std::max(most.memory, resident_bytes() - std::min(before, resident_bytes()));
      std::this_thread::sleep_for(20ms);
    }
    node.stop(0s);
    RecordProperty("held_tasks", static_cast<int>(most.tasks));
    RecordProperty("held_mib", static_cast<int>(most.bytes / kMiB));
    RecordProperty("grown_by_mib", static_cast<int>(most.memory / kMiB));
    return most;
  }

  Place place_{GetParam()};
  SystemClock clock_;
  NullLog log_;
};

TEST_P(Backlog, OfManyTasksStaysInTheStore) {
  put_in(is_measuring() ? 1'000'000 : 20'000, 2, 1);

  const Most most = what_a_blocked_node_holds({.tasks = 60}, 1);

  EXPECT_GT(most.tasks, 0U);
  EXPECT_LE(most.tasks, 60U);
  // Threads, connections and the few that are held.
  if (is_measuring()) {
    EXPECT_LE(most.memory, 32 * kMiB);
  }
}

TEST_P(Backlog, OfLargePayloadsStaysInTheStore) {
  put_in(is_measuring() ? 2'000 : 400, kLargestPayload, 1);

  const Most most = what_a_blocked_node_holds({.bytes = 20 * kMiB}, 1);

  EXPECT_GT(most.tasks, 0U);
  EXPECT_LE(most.bytes, 20 * kMiB);
  // Twice: an answer of the store is in memory while its rows are made from it.
  if (is_measuring()) {
    EXPECT_LE(most.memory, 2 * 20 * kMiB + 16 * kMiB);
  }
}

// Of a kind that it has not seen, a node does not know how large its payloads are.
TEST_P(Backlog, OfLargePayloadsOfManyNewKindsIsHeldWithinTheBound) {
  put_in(is_measuring() ? 2'000 : 400, kLargestPayload, 8);

  const Most most = what_a_blocked_node_holds({.bytes = 20 * kMiB}, 8);

  EXPECT_GT(most.tasks, 0U);
  EXPECT_LE(most.bytes, 20 * kMiB + kMiB);
}

// By counting what BusyEngine measures: nothing of a task stays in a node that is done with it.
TEST_P(Backlog, IsForgottenOnceItIsDone) {
  constexpr int kTasks = 2'000;
  put_in(kTasks, 100, 3);
  embed::NamedStore store = embed::open_store(place_.url(), clock_, log_, 6).value();
  engine::NodeSettings settings;
  settings.scan = {.initial_delay = 10ms, .period = 50ms};
  settings.exclusive_store = store.exclusive;
  engine::Node node(*store.opened, clock_, log_, settings, 7);
  std::atomic<int> runs = 0;
  for (int i = 0; i < 3; ++i) {
    EXPECT_TRUE(node.handle(kind(i), {}, [&](const std::shared_ptr<engine::AttemptRun>& run) {
      ++runs;
      run->complete(engine::Succeeded{});
    }));
  }
  EXPECT_TRUE(node.start());

  ASSERT_TRUE(eventually([&] { return runs == kTasks; }, 60s));

  EXPECT_TRUE(eventually([&] { return node.status().held == 0; }));
  const engine::Core::Status status = node.status();
  EXPECT_EQ(status.held_bytes, 0U);
  EXPECT_EQ(status.waiting_in_wheel, 0U);
  EXPECT_EQ(status.executing, 0);
}

INSTANTIATE_TEST_SUITE_P(Stores, Backlog, ::testing::Values("Sqlite", "Postgres"),
                         [](const auto& store) { return std::string(store.param); });

}  // namespace
}  // namespace recourse::tests

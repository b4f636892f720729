// What people and the program itself do with an engine: cancel, pause, reopen, wrap, stop.
#include <gtest/gtest.h>

#include <atomic>
#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "recourse/engine.h"
#include "tests/engine_fixture.h"

namespace recourse::tests {
namespace {

TEST_P(EngineOnStore, ACancellationReachesARunningHandler) {
  std::atomic<bool> running = false;
  engine_.handle_bytes("work", [&](const Attempt& attempt) -> Outcome {
    running = true;
    while (!attempt.stop_requested()) std::this_thread::sleep_for(1ms);
    return retry("told to stop");
  });
  ASSERT_TRUE(engine_.start());
  const std::string id = submit();
  ASSERT_TRUE(eventually([&] { return running.load(); }));

  EXPECT_EQ(engine_.cancel(id, "ann").value(), "requested");

  EXPECT_TRUE(reaches(id, "cancelled"));
}

TEST_P(EngineOnStore, APausedKindWaitsUntilItIsResumed) {
  std::atomic<int> calls = 0;
  engine_.handle_bytes("work", [&](const Attempt&) { return ++calls, done(); });
  ASSERT_TRUE(engine_.pause_kind("work", "ann"));
  ASSERT_TRUE(engine_.start());
  const std::string id = submit();
  std::this_thread::sleep_for(500ms);
  EXPECT_EQ(calls, 0);

  ASSERT_TRUE(engine_.resume_kind("work", "ann"));

  EXPECT_TRUE(reaches(id, "succeeded"));
}

TEST_P(EngineOnStore, AReopenedTaskRunsAgain) {
  std::atomic<bool> healthy = false;
  engine_.handle_bytes("work", [&](const Attempt&) -> Outcome {
    return healthy ? done() : dead_letter("no such member");
  });
  ASSERT_TRUE(engine_.start());
  const std::string id = submit();
  ASSERT_TRUE(reaches(id, "dead"));
  healthy = true;

  EXPECT_EQ(engine_.retry_now(id, "ann").value(), "done");

  EXPECT_TRUE(reaches(id, "succeeded"));
}

TEST_P(EngineOnStore, OneUnfinishedTaskHasAUniqueKey) {
  std::atomic<bool> go = false;
  engine_.handle_bytes("work", [&](const Attempt&) { return go ? done() : snooze(20ms); });
  ASSERT_TRUE(engine_.start());

  const std::string first = submit({.unique_key = "order-1"});
  EXPECT_EQ(submit({.unique_key = "order-1"}), first);
  go = true;
  ASSERT_TRUE(reaches(first, "succeeded"));

  EXPECT_NE(submit({.unique_key = "order-1"}), first);
}

TEST_P(EngineOnStore, AnAsynchronousHandlerCompletesFromAnyThread) {
  std::mutex mutex;
  std::vector<Completion> open;
  engine_.handle_async("work", [&](Completion completion) {
    const std::lock_guard lock(mutex);
    open.push_back(std::move(completion));
  });
  ASSERT_TRUE(engine_.start());
  const std::string id = submit();

  std::jthread other([&] {
    EXPECT_TRUE(eventually([&] {
      const std::lock_guard lock(mutex);
      return !open.empty();
    }));
    const std::lock_guard lock(mutex);
    open.front().complete(done());
  });

  EXPECT_TRUE(reaches(id, "succeeded"));
}

TEST_P(EngineOnStore, AProbeIsAskedBeforeATimedOutTaskRunsAgain) {
  std::atomic<int> calls = 0;
  std::atomic<int> asked = 0;
  engine_.handle_bytes(
      "work",
      [&](const Attempt& attempt) -> Outcome {
        ++calls;
        while (!attempt.stop_requested()) std::this_thread::sleep_for(1ms);
        return true;
      },
      quick(), [&](const Attempt&) { return ++asked > 0; });
  ASSERT_TRUE(engine_.start());

  const std::string id = submit({.timeout = 50ms});

  EXPECT_TRUE(reaches(id, "succeeded"));
  EXPECT_EQ(calls, 1);
  EXPECT_EQ(asked, 1);
}

TEST_P(EngineOnStore, MiddlewareIsAroundEveryHandler) {
  std::atomic<int> seen = 0;
  engine_.around([&](const Attempt&, const std::function<Outcome()>& next) {
    Outcome outcome = next();
    seen += outcome.kind == OutcomeKind::kDone ? 1 : 100;
    return outcome;
  });
  engine_.handle_bytes("work", [](const Attempt&) { return done(); });
  ASSERT_TRUE(engine_.start());

  EXPECT_TRUE(reaches(submit(), "succeeded"));
  EXPECT_EQ(seen, 1);
}

// STOP-1, STOP-2
TEST_P(EngineOnStore, AStopWaitsForWhatRunsAndHandsBackTheRest) {
  std::atomic<int> running = 0;
  engine_.handle_bytes("work",
                       [&](const Attempt&) {
                         ++running;
                         std::this_thread::sleep_for(200ms);
                         return done();
                       },
                       {.concurrency = 1});
  ASSERT_TRUE(engine_.start());
  std::vector<std::string> ids;
  for (int i = 0; i < 5; ++i) ids.push_back(submit());
  ASSERT_TRUE(eventually([&] { return running == 1; }));

  const StopReport report = engine_.stop(5s);

  EXPECT_EQ(report.cut_off, 0);
  EXPECT_EQ(report.finished, 1);
  int pending = 0;
  for (const std::string& id : ids) {
    const std::string state = engine_.find(id).value().state;
    EXPECT_NE(state, "running");
    pending += state == "pending" ? 1 : 0;
  }
  EXPECT_EQ(pending, 4);
  EXPECT_FALSE(engine_.submit_bytes("work", "{}")) << "it takes nothing any more";
}

TEST_P(EngineOnStore, ManyThreadsSubmitAndEveryTaskRunsOnce) {
  std::atomic<int> calls = 0;
  engine_.handle_bytes("work", [&](const Attempt&) { return ++calls, done(); });
  ASSERT_TRUE(engine_.start());
  {
    std::vector<std::jthread> crowd;
    for (int i = 0; i < 8; ++i) {
      crowd.emplace_back([&] {
        std::vector<Submission> batch(100, {.kind = "work", .payload = "{}"});
        for (const auto& id : engine_.submit_all(batch)) EXPECT_TRUE(id);
      });
    }
  }

  EXPECT_TRUE(eventually([&] { return engine_.counts().value()[{"work", "succeeded"}] == 800; }));
  EXPECT_EQ(calls, 800);
}

INSTANTIATE_TEST_SUITE_P(Stores, EngineOnStore,
                         ::testing::Values("Memory", "Sqlite", "Postgres", "Mariadb"),
                         [](const auto& store) { return std::string(store.param); });

}  // namespace
}  // namespace recourse::tests

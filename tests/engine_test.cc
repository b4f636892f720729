// The engine as a user has it, through the public headers alone, on every store.
#include "recourse/engine.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "recourse/json.h"
#include "tests/support/temporary_directory.h"
#include "tests/support/test_servers.h"

namespace recourse::tests {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;

struct Grant {
  std::string member;
  int amount = 0;
};
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Grant, member, amount)

// A database of its own, by the store's name.
class Place {
 public:
  explicit Place(const std::string& store) {
    if (store == "Postgres") postgres_ = std::make_unique<FreshPostgres>();
    if (store == "Mariadb") mariadb_ = std::make_unique<FreshMariadb>();
    url_ = postgres_           ? postgres_->url()
           : mariadb_          ? mariadb_->url()
           : store == "Sqlite" ? "sqlite:" + (directory_.path() / "engine.db").string()
                               : "memory:";
  }

  [[nodiscard]] const std::string& url() const { return url_; }

 private:
  TemporaryDirectory directory_;
  std::unique_ptr<FreshPostgres> postgres_;
  std::unique_ptr<FreshMariadb> mariadb_;
  std::string url_;
};

bool eventually(const std::function<bool()>& holds, Duration within = 10s) {
  const auto until = std::chrono::steady_clock::now() + within;
  while (!holds()) {
    if (std::chrono::steady_clock::now() > until) return false;
    std::this_thread::sleep_for(5ms);
  }
  return true;
}

class EngineOnStore : public ::testing::TestWithParam<const char*> {
 protected:
  EngineOnStore()
      : place_(GetParam()),
        engine_(Engine::open({.store = place_.url(), .scan_period = 200ms}).value()) {}

  bool reaches(const std::string& id, const std::string& state) {
    return eventually([&] { return engine_.find(id).value().state == state; });
  }
  std::string submit(const SubmitOptions& options = {}) {
    return engine_.submit_bytes("work", "{}", options).value();
  }

  static KindOptions quick() {
    return {.backoff_base = 20ms, .backoff_min = 10ms, .backoff_max = 50ms};
  }

  Place place_;
  Engine engine_;
};

// ENG-1, ENG-2, ENG-3
TEST_P(EngineOnStore, ATypedTaskIsRunAndSucceeds) {
  std::atomic<int> granted = 0;
  engine_.handle<Grant>("grant-points", [&](const Attempt& attempt, const Grant& grant) {
    EXPECT_EQ(attempt.number(), 1);
    granted += grant.amount;
    return done();
  });
  ASSERT_TRUE(engine_.start());

  const auto id = engine_.submit("grant-points", Grant{"m-1", 10}, {.priority = 10});

  ASSERT_TRUE(id) << id.error().message;
  EXPECT_TRUE(reaches(*id, "succeeded"));
  EXPECT_EQ(granted, 10);
}

// FAIL-4, LEASE-3
TEST_P(EngineOnStore, ARefusalIsTriedAgainUntilItWorks) {
  std::atomic<int> calls = 0;
  engine_.handle_bytes(
      "work", [&](const Attempt&) { return ++calls >= 3; }, quick());
  ASSERT_TRUE(engine_.start());

  const std::string id = submit();

  EXPECT_TRUE(reaches(id, "succeeded"));
  const TaskView task = engine_.find(id).value();
  EXPECT_EQ(task.retries, 2);
  EXPECT_EQ(task.attempts, 3);
}

// FAIL-5
TEST_P(EngineOnStore, UsedUpRetriesEndInFrontOfAPerson) {
  std::atomic<int> calls = 0;
  engine_.handle_bytes(
      "work", [&](const Attempt&) { return ++calls, retry("no luck"); }, quick());
  ASSERT_TRUE(engine_.start());

  const std::string id = submit({.max_retries = 2});

  EXPECT_TRUE(reaches(id, "dead"));
  EXPECT_EQ(calls, 3);
  EXPECT_THAT(engine_.find(id).value().error, HasSubstr("no luck"));
}

// FAIL-2, ENG-6
TEST_P(EngineOnStore, WhatIsThrownIsDecidedByItsType) {
  engine_.handle_bytes(
      "work",
      [&](const Attempt& attempt) -> Outcome {
        if (attempt.payload() == "int") throw 7;
        if (attempt.payload() == "bug") throw std::logic_error("index out of range");
        if (attempt.number() == 1) throw std::runtime_error("connection reset");
        return true;
      },
      quick());
  ASSERT_TRUE(engine_.start());

  const std::string thrown_int = engine_.submit_bytes("work", "int").value();
  const std::string bug = engine_.submit_bytes("work", "bug").value();
  const std::string passing = engine_.submit_bytes("work", "passing").value();

  EXPECT_TRUE(reaches(thrown_int, "dead"));
  EXPECT_TRUE(reaches(bug, "dead"));
  EXPECT_THAT(engine_.find(bug).value().error, HasSubstr("index out of range"));
  EXPECT_TRUE(reaches(passing, "succeeded"));
}

// ENG-3
TEST_P(EngineOnStore, APayloadThatDoesNotDecodeComesBeforeAPerson) {
  engine_.handle<Grant>("grant-points", [](const Attempt&, const Grant&) { return done(); });
  ASSERT_TRUE(engine_.start());

  const std::string id = engine_.submit_bytes("grant-points", "not json").value();

  EXPECT_TRUE(reaches(id, "dead"));
  EXPECT_EQ(engine_.find(id).value().error_code, "SERDE_ERROR");
}

// ENG-7
TEST_P(EngineOnStore, AnAttemptThatOverrunsIsTimedOutAndItsLateResultDiscarded) {
  std::atomic<int> calls = 0;
  engine_.handle_bytes(
      "work",
      [&](const Attempt& attempt) -> Outcome {
        if (++calls > 1) return dead_letter("the second answer counts");
        while (!attempt.stop_requested()) std::this_thread::sleep_for(1ms);
        return true;
      },
      quick());
  ASSERT_TRUE(engine_.start());

  const std::string id = submit({.timeout = 100ms});

  EXPECT_TRUE(reaches(id, "dead"));
  EXPECT_EQ(engine_.find(id).value().attempts, 2);
}

// ENG-9
TEST_P(EngineOnStore, NothingStartsAfterItsDeadline) {
  std::atomic<int> calls = 0;
  engine_.handle_bytes("work", [&](const Attempt&) { return ++calls, done(); });
  ASSERT_TRUE(engine_.start());

  const std::string id = submit({.deadline = recourse::in(50ms), .delay = 200ms});

  EXPECT_TRUE(reaches(id, "dead"));
  EXPECT_EQ(calls, 0);
  EXPECT_EQ(engine_.find(id).value().error_code, "DEADLINE");
}

TEST_P(EngineOnStore, ADelayedTaskIsNotEarly) {
  std::atomic<bool> ran = false;
  engine_.handle_bytes("work", [&](const Attempt&) { return ran = true, done(); });
  ASSERT_TRUE(engine_.start());
  const auto before = std::chrono::steady_clock::now();

  const std::string id = submit({.delay = 300ms});

  EXPECT_TRUE(reaches(id, "succeeded"));
  EXPECT_GE(std::chrono::steady_clock::now() - before, 300ms);
}

TEST_P(EngineOnStore, ASnoozeUsesUpNoRetry) {
  std::atomic<int> calls = 0;
  engine_.handle_bytes("work", [&](const Attempt&) { return ++calls < 4 ? snooze(20ms) : done(); });
  ASSERT_TRUE(engine_.start());

  const std::string id = submit({.max_retries = 0});

  EXPECT_TRUE(reaches(id, "succeeded"));
  EXPECT_EQ(engine_.find(id).value().retries, 0);
}

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

class EngineRefuses : public ::testing::Test {
 protected:
  Engine engine_ = Engine::open({.store = "memory:"}).value();
};

TEST_F(EngineRefuses, AnUnknownStore) {
  const auto engine = Engine::open({.store = "oracle://scott:tiger@db"});
  ASSERT_FALSE(engine);
  EXPECT_THAT(engine.error().message, HasSubstr("sqlite:FILE"));
  EXPECT_THAT(engine.error().message, ::testing::Not(HasSubstr("tiger")));
}

TEST_F(EngineRefuses, AnUnknownBackoff) {
  engine_.handle_bytes("work", [](const Attempt&) { return done(); });
  ASSERT_TRUE(engine_.start());
  const auto id = engine_.submit_bytes("work", "{}", {.backoff = "quadratic"});
  ASSERT_FALSE(id);
  EXPECT_THAT(id.error().message, HasSubstr("exponential"));
}

TEST_F(EngineRefuses, APayloadOverTheLimit) {
  engine_.handle_bytes("work", [](const Attempt&) { return done(); });
  ASSERT_TRUE(engine_.start());
  const auto id = engine_.submit_bytes("work", std::string(256 * 1024 + 1, 'x'));
  ASSERT_FALSE(id);
  EXPECT_EQ(id.error().code, ErrorCode::kInvalid);
}

TEST_F(EngineRefuses, TheSameKindTwice) {
  engine_.handle_bytes("work", [](const Attempt&) { return done(); });
  engine_.handle_bytes("work", [](const Attempt&) { return done(); });
  const auto started = engine_.start();
  ASSERT_FALSE(started);
  EXPECT_THAT(started.error().message, HasSubstr("has a handler already"));
}

TEST_F(EngineRefuses, ASubmitBeforeTheStart) { EXPECT_FALSE(engine_.submit_bytes("work", "{}")); }

}  // namespace
}  // namespace recourse::tests

// The engine as a user has it, through the public headers alone, on every store: what becomes of a
// task.
#include "recourse/engine.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <stdexcept>
#include <string>
#include <thread>

#include "recourse/json.h"
#include "tests/engine_fixture.h"

namespace recourse::tests {
namespace {

using ::testing::HasSubstr;

struct Grant {
  std::string member;
  int amount = 0;
};
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Grant, member, amount)

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

}  // namespace
}  // namespace recourse::tests

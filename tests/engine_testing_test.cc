// recourse::testing as users have it: no threads, no waiting. It shows the engine's timing exactly.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "recourse/testing.h"

namespace recourse::tests {
namespace {

using namespace std::chrono_literals;
using recourse::testing::TestEngine;
using ::testing::ElementsAre;

const KindOptions kExact{.backoff = "exponential", .jitter = 0};

TEST(TestEngine, NothingRunsUntilItIsTold) {
  TestEngine engine;
  int calls = 0;
  engine.handle_bytes("work", [&](const Attempt&) { return ++calls, done(); });

  const std::string id = engine.submit_bytes("work", "{}").value();
  EXPECT_EQ(calls, 0);

  EXPECT_EQ(engine.run_due(), 1);
  EXPECT_EQ(engine.find(id).value().state, "succeeded");
}

// ENG-8: 1, 2, 4, ... seconds, never early, and at most a tick of the wheel late.
TEST(TestEngine, RetriesComeByTheBackoff) {
  TestEngine engine;
  int calls = 0;
  engine.handle_bytes(
      "work", [&](const Attempt&) { return ++calls, retry("no"); }, kExact);
  const std::string id = engine.submit_bytes("work", "{}", {.max_retries = 3}).value();
  EXPECT_EQ(engine.run_due(), 1);

  EXPECT_EQ(engine.advance(999ms), 0);
  EXPECT_EQ(engine.advance(101ms), 1);
  EXPECT_EQ(engine.advance(1890ms), 0);
  EXPECT_EQ(engine.advance(300ms), 1);
  EXPECT_EQ(engine.advance(10s), 1);

  EXPECT_EQ(engine.find(id).value().state, "dead");
  EXPECT_EQ(engine.find(id).value().attempts, 4);
}

// ENG-2
TEST(TestEngine, ATaskThatNobodyHandlesComesBeforeAPerson) {
  TestEngine engine;
  engine.handle_bytes("work", [](const Attempt&) { return done(); });
  const std::string id = engine.submit_bytes("stranger", "{}").value();

  engine.advance(9min);
  EXPECT_EQ(engine.find(id).value().state, "pending");
  engine.advance(5min);

  EXPECT_EQ(engine.find(id).value().state, "dead");
  EXPECT_EQ(engine.find(id).value().error_code, "NO_HANDLER");
}

// ENG-2: one handler for several kinds.
TEST(TestEngine, AStarStandsForAllKindsThatBeginSo) {
  TestEngine engine;
  std::vector<std::string> seen;
  engine.handle_bytes("mail.*", [&](const Attempt& a) { return seen.push_back(a.kind()), done(); });
  engine.handle_bytes("mail.urgent",
                      [&](const Attempt&) { return seen.emplace_back("!"), done(); });
  (void)engine.submit_bytes("mail.bill", "{}").value();
  (void)engine.submit_bytes("mail.urgent", "{}").value();

  engine.run_due();

  EXPECT_THAT(seen, ::testing::UnorderedElementsAre("mail.bill", "!"));
}

// LOAD-2, LOAD-3: an open breaker lets nothing through, and closes by itself.
TEST(TestEngine, ABreakerOpensAndClosesAgain) {
  TestEngine engine;
  bool healthy = false;
  int calls = 0;
  engine.handle_bytes("work",
                      [&](const Attempt&) { return ++calls, healthy ? done() : retry("down"); },
                      {.backoff = "fixed", .jitter = 0, .breaker_min_calls = 20});
  for (int i = 0; i < 40; ++i) (void)engine.submit_bytes("work", "{}", {.max_retries = 50}).value();

  engine.advance(10s);
  const int before_it_opened = calls;
  EXPECT_LT(before_it_opened, 60);
  healthy = true;
  engine.advance(5min);

  EXPECT_EQ(calls, before_it_opened + 40);
}

TEST(TestEngine, LargerPrioritiesComeFirst) {
  TestEngine engine;
  std::vector<std::string> order;
  engine.handle_bytes("work",
                      [&](const Attempt& a) { return order.push_back(a.payload()), done(); },
                      {.concurrency = 1});
  (void)engine.submit_bytes("work", "low", {.priority = 1}).value();
  (void)engine.submit_bytes("work", "high", {.priority = 9}).value();
  (void)engine.submit_bytes("work", "middle", {.priority = 5}).value();

  engine.run_due();

  EXPECT_EQ(order.size(), 3U);
  EXPECT_EQ(order[1], "high");
}

TEST(TestEngine, ARateLimitIsKept) {
  TestEngine engine;
  engine.handle_bytes("work", [](const Attempt&) { return done(); },
                      {.rate = RateLimit{.per_second = 10, .burst = 5}});
  for (int i = 0; i < 50; ++i) (void)engine.submit_bytes("work", "{}").value();

  EXPECT_EQ(engine.run_due(), 5);
  EXPECT_EQ(engine.advance(1s), 10);
  EXPECT_EQ(engine.advance(1min), 35);
}

}  // namespace
}  // namespace recourse::tests

// Two engines on one PostgreSQL database, as two processes would be: what one leaves there the
// other hears of, long before it would have looked.
#include <gtest/gtest.h>

#include <atomic>
#include <string>

#include "recourse/engine.h"
#include "tests/engine_fixture.h"

namespace recourse::tests {
namespace {

constexpr Duration kNeverScans = 30s;
constexpr Duration kSoon = 3s;

class EnginesThatHint : public ::testing::Test {
 protected:
  Engine open() {
    return Engine::open({.store = place_.url(), .scan_period = kNeverScans}).value();
  }
  // Until both have joined, and the first scans are over.
  static void settle() { std::this_thread::sleep_for(1'500ms); }

  Place place_{"Postgres"};
};

TEST_F(EnginesThatHint, WorkThatTheOtherSubmitsIsPickedUpAtOnce) {
  Engine submitter = open();
  Engine worker = open();
  std::atomic<bool> ran = false;
  worker.handle_bytes("work", [&](const Attempt&) { return ran = true, done(); });
  ASSERT_TRUE(submitter.start());
  ASSERT_TRUE(worker.start());
  settle();

  ASSERT_TRUE(submitter.submit_bytes("work", "{}"));

  EXPECT_TRUE(eventually([&] { return ran.load(); }, kSoon));
}

TEST_F(EnginesThatHint, WhatTheOtherCancelsIsToldToStopAtOnce) {
  Engine person = open();
  Engine worker = open();
  std::atomic<bool> runs = false;
  std::atomic<bool> told = false;
  worker.handle_bytes("work", [&](const Attempt& attempt) -> Outcome {
    runs = true;
    while (!attempt.stop_requested()) std::this_thread::sleep_for(1ms);
    told = true;
    return cancelled("as asked");
  });
  ASSERT_TRUE(person.start());
  ASSERT_TRUE(worker.start());
  settle();
  const std::string id = worker.submit_bytes("work", "{}", {.timeout = 60s}).value();
  ASSERT_TRUE(eventually([&] { return runs.load(); }));

  EXPECT_EQ(person.cancel(id, "somebody").value(), "requested");

  EXPECT_TRUE(eventually([&] { return told.load(); }, kSoon));
}

}  // namespace
}  // namespace recourse::tests

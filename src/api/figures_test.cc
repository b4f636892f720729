#include "api/figures.h"

#include <gtest/gtest.h>

#include "base/manual_clock.h"

namespace recourse::api {
namespace {

using namespace std::chrono_literals;

engine::Moved moved_to(task::State state, std::optional<Duration> took, const char* kind = "k") {
  return {.task = {},
          .kind = task::Kind(kind),
          .tenant = {},
          .move = task::Move::kSucceed,
          .to = state,
          .retries = 2,
          .max_retries = 5,
          .fence = {},
          .category = std::nullopt,
          .escalation = std::nullopt,
          .error = std::nullopt,
          .took = took};
}

TEST(Quantile, LiesWithinTheBucketThatHoldsIt) {
  Times times;
  EXPECT_EQ(quantile(times, 0.5), 0);
  for (int i = 0; i < 100; ++i) times.add(0.002, kTimeBounds);  // 1 ms to 2.5 ms
  EXPECT_NEAR(quantile(times, 0.5), 0.00175, 1e-9);
  EXPECT_NEAR(quantile(times, 1), 0.0025, 1e-9);
  for (int i = 0; i < 100; ++i) times.add(0.7, kTimeBounds);  // 0.5 s to 1 s
  EXPECT_NEAR(quantile(times, 0.75), 0.75, 1e-9);
  Times slow;
  slow.add(1'000, kTimeBounds);
  // The open bucket has no end to lie within.
  EXPECT_EQ(quantile(slow, 0.5), kTimeBounds.back());
}

TEST(Quantile, ABoundBelongsToItsBucket) {
  Times times;
  times.add(0.001, kTimeBounds);
  EXPECT_EQ(times.counts.front(), 1U);
  times.add(60.1, kTimeBounds);
  EXPECT_EQ(times.counts.back(), 1U);
}

class FiguresTest : public testing::Test {
 protected:
  ManualClock clock_{TimePoint(1'000'005s)};
  Figures figures_{clock_};
};

TEST_F(FiguresTest, CountsWhatBecameOfTasks) {
  figures_.submitted("k", true);
  figures_.submitted("k", false);
  figures_.happened(moved_to(task::State::kPending, 20ms));
  figures_.happened(moved_to(task::State::kSucceeded, 30ms));
  figures_.happened(moved_to(task::State::kDead, 30ms));
  figures_.happened(moved_to(task::State::kPaused, std::nullopt));
  const Figures::Snapshot snapshot = figures_.snapshot();
  const KindFigures& kind = snapshot.kinds.at("k");
  EXPECT_EQ(kind.submitted, 1U);
  EXPECT_EQ(kind.refused, 1U);
  EXPECT_EQ(kind.retried, 1U);
  EXPECT_EQ(kind.ended.at(task::State::kSucceeded), 1U);
  EXPECT_EQ(kind.ended.at(task::State::kDead), 1U);
  EXPECT_FALSE(kind.ended.contains(task::State::kPaused));
  ASSERT_EQ(snapshot.steps.size(), 1U);
  EXPECT_EQ(snapshot.steps.front().at, TimePoint(1'000'000s));
  EXPECT_EQ(snapshot.steps.front().succeeded, 1U);
  EXPECT_EQ(snapshot.steps.front().ended_badly, 1U);
}

TEST_F(FiguresTest, WhatIsPutOffIsNoAttempt) {
  engine::Moved put_off = moved_to(task::State::kPending, std::nullopt);
  put_off.category = policy::Category::kOpenCircuit;
  figures_.happened(put_off);
  const KindFigures kind = figures_.snapshot().kinds.at("k");
  EXPECT_EQ(kind.put_off, 1U);
  EXPECT_EQ(kind.retried, 0U);
}

TEST_F(FiguresTest, KeepsTheLastHourAndNoMore) {
  for (int i = 0; i < 400; ++i) {
    figures_.submitted("k", true);
    clock_.advance(10s);
  }
  const auto steps = figures_.snapshot().steps;
  EXPECT_EQ(steps.size(), 360U);
  EXPECT_EQ(steps.back().at - steps.front().at, 3590s);
}

TEST_F(FiguresTest, TooManyKindsShareALabel) {
  for (int i = 0; i < 150; ++i) figures_.submitted("kind-" + std::to_string(i), true);
  const auto kinds = figures_.snapshot().kinds;
  EXPECT_LE(kinds.size(), kKindLabelsMax + 1);
  EXPECT_EQ(kinds.at("other").submitted, 50U);
}

}  // namespace
}  // namespace recourse::api

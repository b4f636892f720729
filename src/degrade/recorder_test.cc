#include "degrade/recorder.h"

#include <gtest/gtest.h>

namespace recourse::degrade {
namespace {

using namespace std::chrono_literals;

constexpr TimePoint kMade{std::chrono::sys_days{std::chrono::year{2026} / 5 / 1}};

// The store is asked by whoever can find out that it is back, and by nobody else.
TEST(AsksStore, OnlyWhileItIsWellOrNobodyElseWould) {
  EXPECT_TRUE(asks_store(false, false));
  EXPECT_TRUE(asks_store(false, true));
  EXPECT_TRUE(asks_store(true, false));
  EXPECT_FALSE(asks_store(true, true));
}

TEST(IsWorthSpooling, WhatTheStoreMayTakeLater) {
  EXPECT_TRUE(is_worth_spooling(ErrorCode::kUnavailable));
  EXPECT_TRUE(is_worth_spooling(ErrorCode::kInDoubt));
  EXPECT_TRUE(is_worth_spooling(ErrorCode::kExhausted));
  EXPECT_FALSE(is_worth_spooling(ErrorCode::kInvalid));
  EXPECT_FALSE(is_worth_spooling(ErrorCode::kCorrupt));
}

TEST(DelayLeft, CountsFromTheFailure) {
  UlidSequence ids(1);
  store::Submission submission;
  submission.id = task::TaskId(ids.next(kMade));
  submission.delay = 1min;

  EXPECT_EQ(delay_left(submission, kMade), 1min);
  EXPECT_EQ(delay_left(submission, kMade + 20s), 40s);
  EXPECT_EQ(delay_left(submission, kMade + 1h), 0s);
  // A clock that went back makes nobody wait longer.
  EXPECT_EQ(delay_left(submission, kMade - 1h), 1min);
}

// The insert that was given up on may still be under way, and a fresh id is taken at its word.
TEST(TimeUntilRepeat, LetsTheFirstInsertPass) {
  UlidSequence ids(1);
  std::vector<store::Submission> batch(2);
  batch[0].id = task::TaskId(ids.next(kMade));
  batch[1].id = task::TaskId(ids.next(kMade + 2s));

  EXPECT_EQ(time_until_repeat({}, kMade), 0s);
  EXPECT_EQ(time_until_repeat(batch, kMade + 2s), kRepeatAfter);
  EXPECT_EQ(time_until_repeat(batch, kMade + 4s), kRepeatAfter - 2s);
  EXPECT_EQ(time_until_repeat(batch, kMade + 1h), 0s);
  EXPECT_EQ(time_until_repeat(batch, kMade - 1h), kRepeatAfter);
}

}  // namespace
}  // namespace recourse::degrade

#include "engine/core/note_line.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace recourse::engine {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::SizeIs;

constexpr TimePoint kFirstNote{1'700'000'000s};

store::Jotting said(std::string text, std::optional<int> progress = std::nullopt) {
  store::Jotting jotting;
  jotting.note.text = std::move(text);
  jotting.note.progress = progress;
  return jotting;
}

std::vector<std::string> texts(const std::vector<store::Jotting>& batch) {
  std::vector<std::string> all;
  for (const store::Jotting& item : batch) all.push_back(item.note.text);
  return all;
}

TEST(NoteLine, TheFirstGoAtOnceAndTheNextGatherWhileACallIsOut) {
  NoteLine line;
  EXPECT_EQ(line.next_wakeup(), kNever);
  line.add(AttemptId(1), said("a"));
  EXPECT_LE(line.next_wakeup(), kFirstNote);
  EXPECT_THAT(texts(line.take(kFirstNote).value()), ElementsAre("a"));

  line.add(AttemptId(1), said("b"));
  line.add(AttemptId(2), said("c"));
  EXPECT_EQ(line.next_wakeup(), kNever);
  EXPECT_EQ(line.take(kFirstNote + 10s), std::nullopt);
  line.end();
  EXPECT_EQ(line.take(kFirstNote + 199ms), std::nullopt);

  EXPECT_EQ(line.next_wakeup(), kFirstNote + 200ms);
  EXPECT_THAT(texts(line.take(kFirstNote + 200ms).value()), ElementsAre("b", "c"));
}

TEST(NoteLine, TheNewestOfAnAttemptAndItsNewestProgressAreKept) {
  NoteLine line;
  line.add(AttemptId(1), said("older", 1));
  line.add(AttemptId(1), said("newer", 2));
  for (int i = 0; i < 100; ++i) line.add(AttemptId(1), said(std::to_string(i)));

  const std::vector<store::Jotting> batch = line.take(kFirstNote).value();

  ASSERT_THAT(batch, SizeIs(kNotesWaitingMax));
  EXPECT_EQ(batch.front().note.text, "newer");
  EXPECT_EQ(batch[1].note.text, "85");
  EXPECT_EQ(batch.back().note.text, "99");
}

TEST(NoteLine, WhatAnEndedAttemptSaidGoesWithItsOutcomeAndNotAgain) {
  NoteLine line;
  line.add(AttemptId(1), said("mine"));
  line.add(AttemptId(2), said("another's"));

  EXPECT_EQ(line.take_of(AttemptId(1)).front().text, "mine");

  EXPECT_THAT(line.take_of(AttemptId(1)), SizeIs(0));
  EXPECT_THAT(texts(line.take(kFirstNote).value()), ElementsAre("another's"));
}

TEST(NoteLine, WhatIsOutGoesWithTheOutcomeTooUntilItIsAnswered) {
  NoteLine line;
  line.add(AttemptId(1), said("sent"));
  (void)line.take(kFirstNote);
  line.add(AttemptId(1), said("waits"));

  EXPECT_THAT(line.take_of(AttemptId(1)), SizeIs(2));

  line.end();
  EXPECT_THAT(line.take_of(AttemptId(1)), SizeIs(0));
  EXPECT_EQ(line.next_wakeup(), kNever);
}

TEST(NoteLine, WhatManyAttemptsSayIsBounded) {
  NoteLine line;
  for (std::uint64_t attempt = 1; attempt <= 10'000; ++attempt) {
    line.add(AttemptId(attempt), said("all at once"));
  }
  std::size_t sent = 0;
  for (TimePoint now = kFirstNote; auto batch = line.take(now); now += 200ms) {
    EXPECT_LE(batch->size(), store::kBatchRowsMax);
    sent += batch->size();
    line.end();
  }

  EXPECT_EQ(sent, 5'000U);
  EXPECT_EQ(line.next_wakeup(), kNever);
}

}  // namespace
}  // namespace recourse::engine

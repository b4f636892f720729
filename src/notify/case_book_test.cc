#include "notify/case_book.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "notify/notifier.h"

namespace recourse::notify {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

constexpr TimePoint kNow{1'000h};
constexpr BootTime kTakenAt{10h};

class CaseBookTest : public testing::Test {
 protected:
  static store::DueCase due(int number, int reminders = 0, TimePoint until = kNow + 1min) {
    store::DueCase one;
    one.task.id = task::TaskId(Ulid{.bytes = {static_cast<std::uint8_t>(number)}});
    one.held = {.task = one.task.id,
                .fence = task::Fence(7),
                .opened_at = kNow,
                .reminders = reminders,
                .remind_at = until};
    return one;
  }
  static CaseKey key(int number, int reminders = 0) { return key_of(due(number, reminders).held); }

  std::vector<bool> take(const store::DueCase& one, BootTime now = kTakenAt) {
    return book_.taken({&one, 1}, now);
  }
  // As the store answers when nobody interfered.
  void write(const std::vector<store::PutOff>& batch, BootTime now) {
    std::vector<std::optional<TimePoint>> ends;
    for (const store::PutOff& one : batch) ends.emplace_back(kNow + one.wait);
    book_.put_off(batch, ends, now);
  }

  CaseBook book_{{.reminders = {.interval = 1h}, .hold = 60s, .hold_max = 10min, .out_max = 3}};
};

TEST_F(CaseBookTest, WhatWasToldIsPutOffByTheLadder) {
  EXPECT_THAT(take(due(1)), ElementsAre(true));
  EXPECT_THAT(take(due(2, 4)), ElementsAre(true));
  EXPECT_THAT(book_.to_put_off(kTakenAt), IsEmpty());
  book_.ended(key(1), true);
  book_.ended(key(2, 4), true);

  const auto batch = book_.to_put_off(kTakenAt);

  ASSERT_THAT(batch, SizeIs(2));
  EXPECT_TRUE(batch[0].told);
  EXPECT_EQ(batch[0].wait, 1h);
  EXPECT_EQ(batch[0].held.remind_at, kNow + 1min);
  EXPECT_EQ(batch[1].wait, 5h) << "interval x (sent + 1)";
  write(batch, kTakenAt);
  EXPECT_EQ(book_.out(), 0U);
}

TEST_F(CaseBookTest, WhatCouldNotBeToldIsTriedAgainLater) {
  (void)take(due(1));
  book_.ended(key(1), false);
  const auto batch = book_.to_put_off(kTakenAt);
  ASSERT_THAT(batch, SizeIs(1));
  EXPECT_FALSE(batch[0].told);
  EXPECT_EQ(batch[0].wait, 2min);
  write(batch, kTakenAt);
  EXPECT_EQ(book_.out(), 0U);
}

TEST_F(CaseBookTest, WhatHasToWaitLeavesTheBookUntilThen) {
  (void)take(due(1));
  (void)take(due(2));
  (void)take(due(3));
  book_.ended(key(1), false, 9h);
  book_.ended(key(2), false, Duration::max());
  book_.ended(key(3), false, 1s);
  const auto batch = book_.to_put_off(kTakenAt);
  ASSERT_THAT(batch, SizeIs(3));
  EXPECT_FALSE(batch[0].told) << "no reminder is counted";
  EXPECT_EQ(batch[0].wait, 9h);
  EXPECT_EQ(batch[1].wait, 24h) << "asked for once a day, whatever a filter says";
  EXPECT_EQ(batch[2].wait, 60s) << "not before its hold would have ended";
  write(batch, kTakenAt);
  EXPECT_EQ(book_.out(), 0U);
}

// What waits through quiet hours must not keep what may wake people up from being told.
TEST(CaseBookSettings, HasRoomForTwiceOfWhatIsHeldBack) {
  EXPECT_GE(CaseBookSettings{}.out_max, 2 * NotifierSettings{}.held_back_max);
}

TEST_F(CaseBookTest, WhatIsOutForLongIsHeldForLonger) {
  (void)take(due(1));
  EXPECT_EQ(book_.next_hold(), kTakenAt + 30s);
  EXPECT_THAT(book_.to_put_off(kTakenAt + 29s), IsEmpty());
  BootTime now = kTakenAt + 30s;
  for (const Duration hold : {2min, 4min, 8min, 10min, 10min}) {
    const auto batch = book_.to_put_off(now);
    ASSERT_THAT(batch, SizeIs(1));
    EXPECT_EQ(batch[0].wait, hold);
    EXPECT_FALSE(batch[0].told);
    write(batch, now);
    EXPECT_THAT(book_.to_put_off(now), IsEmpty());
    now += hold / 2;
  }
  book_.ended(key(1), true);
  EXPECT_EQ(book_.to_put_off(now).at(0).held.remind_at, kNow + 10min) << "the last hold";
}

TEST_F(CaseBookTest, WhatEndsWhileItsHoldIsWrittenIsStillRecorded) {
  (void)take(due(1));
  const auto batch = book_.to_put_off(kTakenAt + 30s);
  book_.ended(key(1), true);
  write(batch, kTakenAt + 31s);
  const auto told = book_.to_put_off(kTakenAt + 31s);
  ASSERT_THAT(told, SizeIs(1));
  EXPECT_TRUE(told[0].told);
  EXPECT_EQ(told[0].held.remind_at, kNow + 2min);
}

TEST_F(CaseBookTest, WhatIsTakenTwiceIsToldOnce) {
  EXPECT_THAT(take(due(1)), ElementsAre(true));
  EXPECT_THAT(take(due(1, 0, kNow + 2min), kTakenAt + 70s), ElementsAre(false));
  book_.ended(key(1), true);
  EXPECT_EQ(book_.to_put_off(kTakenAt).at(0).held.remind_at, kNow + 2min);
}

TEST_F(CaseBookTest, WhatSomebodyChangedIsForgotten) {
  (void)take(due(1));
  (void)take(due(2));
  book_.ended(key(1), true);
  book_.ended(key(2), true);
  auto batch = book_.to_put_off(kTakenAt);
  book_.put_off({batch.data(), 1}, std::vector{std::optional<TimePoint>()}, kTakenAt);
  EXPECT_EQ(book_.out(), 1U);
  batch = book_.to_put_off(kTakenAt);
  book_.put_off(batch, fail(ErrorCode::kUnavailable, "down"), kTakenAt);
  EXPECT_EQ(book_.out(), 1U) << "tried again";
  book_.put_off(batch, fail(ErrorCode::kInDoubt, "lost"), kTakenAt);
  EXPECT_EQ(book_.out(), 0U);
  book_.ended(key(1), true);
}

// Seen while reading a trace of the simulation: it was taken for the next reminder's, which was
// then never told.
TEST_F(CaseBookTest, WhatEndsLateSaysNothingOfTheNextReminder) {
  (void)take(due(1));
  const auto held = book_.to_put_off(kTakenAt + 30s);
  book_.put_off(held, fail(ErrorCode::kInDoubt, "lost"), kTakenAt + 30s);
  (void)take(due(1, 1));
  book_.ended(key(1), true);
  EXPECT_THAT(book_.to_put_off(kTakenAt), IsEmpty());
}

TEST_F(CaseBookTest, NoMoreIsTakenThanFits) {
  EXPECT_EQ(book_.room(), 3U);
  for (int i = 1; i <= 3; ++i) (void)take(due(i));
  EXPECT_EQ(book_.room(), 0U);
}

TEST_F(CaseBookTest, SettingsThatCannotWorkAreRefused) {
  EXPECT_TRUE(validate(CaseBookSettings{}));
  EXPECT_FALSE(validate(CaseBookSettings{.hold = 0s}));
  EXPECT_FALSE(validate(CaseBookSettings{.hold = 1min, .hold_max = 1s}));
  EXPECT_FALSE(validate(CaseBookSettings{.out_max = 0}));
}

}  // namespace
}  // namespace recourse::notify

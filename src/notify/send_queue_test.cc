#include "notify/send_queue.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <map>

namespace recourse::notify {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;
using testing::SizeIs;

constexpr TimePoint kStart{1'700'000'000s};

const Result<> kWentWell;
const Result<> kWentBadly = fail(ErrorCode::kUnavailable, "it answered 500");

Letter letter(std::size_t channel = 0) {
  static const auto masker = std::make_shared<const Masker>(Masker::make({}).value());
  return {.message = std::make_shared<const Outgoing>(Notice{}, masker),
          .channel = channel,
          .ended = nullptr};
}

// NOTE-5
TEST(SendQueue, TriesThreeTimesWithPausesThatDouble) {
  SendQueue queue({}, 1);
  std::vector<SendQueue::Ended> ended;
  ASSERT_TRUE(queue.offer(letter()));

  TimePoint now = kStart;
  for (const Duration pause : {200ms, 400ms}) {
    queue.tried(queue.next(now, ended).value(), kWentBadly, now, ended);
    EXPECT_EQ(queue.next_wakeup(), now + pause);
    EXPECT_FALSE(queue.next(now + pause - 1us, ended));
    now += pause;
  }
  EXPECT_THAT(ended, SizeIs(0));
  queue.tried(queue.next(now, ended).value(), kWentBadly, now, ended);

  ASSERT_THAT(ended, SizeIs(1));
  EXPECT_FALSE(ended[0].end.sent);
  EXPECT_EQ(ended[0].end.tries, 3);
  EXPECT_EQ(ended[0].end.error, "it answered 500");
}

TEST(SendQueue, PausesGrowToFourSecondsAtMost) {
  SendQueue queue({.tries_max = 10, .breaker = {.min_calls = 50}}, 1);
  std::vector<SendQueue::Ended> ended;
  ASSERT_TRUE(queue.offer(letter()));
  std::vector<Duration> pauses;
  for (TimePoint now = kStart; ended.empty(); now = queue.next_wakeup().value_or(now)) {
    queue.tried(queue.next(now, ended).value(), kWentBadly, now, ended);
    if (queue.next_wakeup()) pauses.push_back(*queue.next_wakeup() - now);
  }
  EXPECT_THAT(pauses, testing::ElementsAre(200ms, 400ms, 800ms, 1600ms, 3200ms, 4s, 4s, 4s, 4s));
}

TEST(SendQueue, DoesNotTryAgainWhatStaysWrong) {
  SendQueue queue({}, 1);
  std::vector<SendQueue::Ended> ended;
  ASSERT_TRUE(queue.offer(letter()));

  queue.tried(queue.next(kStart, ended).value(), fail(ErrorCode::kInvalid, "wrong password"),
              kStart, ended);

  ASSERT_THAT(ended, SizeIs(1));
  EXPECT_EQ(ended[0].end.tries, 1);
}

TEST(SendQueue, RefusesBeyondItsBoundAndLeavesHalfOfItToOtherChannels) {
  SendQueue queue({.queue_max = 10}, 2);
  for (int i = 0; i < 5; ++i) EXPECT_TRUE(queue.offer(letter(0)));
  EXPECT_FALSE(queue.offer(letter(0)));
  for (int i = 0; i < 5; ++i) EXPECT_TRUE(queue.offer(letter(1)));
  EXPECT_FALSE(queue.offer(letter(1)));

  SendQueue alone({.queue_max = 10}, 1);
  for (int i = 0; i < 10; ++i) EXPECT_TRUE(alone.offer(letter(0)));
  EXPECT_FALSE(alone.offer(letter(0)));
}

TEST(SendQueue, AChannelThatHangsLeavesAThreadForEachOfTheOthers) {
  SendQueue queue({}, 3);
  std::vector<SendQueue::Ended> ended;
  for (int i = 0; i < 10; ++i) ASSERT_TRUE(queue.offer(letter(0)));

  EXPECT_TRUE(queue.next(kStart, ended));
  EXPECT_TRUE(queue.next(kStart, ended));
  EXPECT_FALSE(queue.next(kStart, ended)) << "two of four threads are for the two others";

  ASSERT_TRUE(queue.offer(letter(1)) && queue.offer(letter(2)));
  EXPECT_EQ(queue.next(kStart, ended).value().waiting.letter.channel, 1U);
  EXPECT_EQ(queue.next(kStart, ended).value().waiting.letter.channel, 2U);
}

TEST(SendQueue, LeavesAChannelAloneThatFailsAndLooksAgainWithOneLetter) {
  SendQueue queue({.tries_max = 1}, 1);
  std::vector<SendQueue::Ended> ended;
  for (int i = 0; i < 6; ++i) {
    ASSERT_TRUE(queue.offer(letter()));
    queue.tried(queue.next(kStart, ended).value(), kWentBadly, kStart, ended);
  }
  ASSERT_EQ(queue.breaker_state(0), policy::BreakerState::kOpen);

  ended.clear();
  ASSERT_TRUE(queue.offer(letter()));
  EXPECT_FALSE(queue.next(kStart + 29s, ended));
  ASSERT_THAT(ended, SizeIs(1));
  EXPECT_EQ(ended[0].end.tries, 0);
  EXPECT_THAT(ended[0].end.error, HasSubstr("failed too often"));

  ASSERT_TRUE(queue.offer(letter()) && queue.offer(letter()));
  auto probe = queue.next(kStart + 30s, ended);
  ASSERT_TRUE(probe);
  EXPECT_FALSE(queue.next(kStart + 30s, ended)) << "the others wait for the probe";
  EXPECT_THAT(ended, SizeIs(1));
  queue.tried(*std::move(probe), kWentWell, kStart + 31s, ended);
  EXPECT_TRUE(queue.next(kStart + 31s, ended));
}

TEST(SendQueue, GivesUpWhatWaitsAndTriesNothingAgain) {
  SendQueue queue({}, 1);
  std::vector<SendQueue::Ended> ended;
  ASSERT_TRUE(queue.offer(letter()) && queue.offer(letter()));
  auto out = queue.next(kStart, ended);

  queue.give_up("the notifier stopped", ended);
  EXPECT_THAT(ended, SizeIs(1));
  EXPECT_FALSE(queue.offer(letter()));
  queue.tried(*std::move(out), kWentBadly, kStart, ended);
  EXPECT_THAT(ended, SizeIs(2));
  EXPECT_EQ(queue.waiting(), 0U);
}

TEST(SendQueue, RefusesSettingsThatCannotWork) {
  EXPECT_FALSE(validate(DispatchSettings{.threads_core = 5}));
  EXPECT_FALSE(validate(DispatchSettings{.queue_max = 0}));
  EXPECT_FALSE(validate(DispatchSettings{.retry_delay_min = 5s}));
}

RC_GTEST_PROP(SendQueue, EveryLetterEndsOnceAndNoBoundIsEverPassed, ()) {
  const int channels = *rc::gen::inRange(1, 7);
  const DispatchSettings settings{.threads_max = *rc::gen::inRange(2, 6), .queue_max = 20};
  SendQueue queue(settings, static_cast<std::size_t>(channels));
  std::vector<SendQueue::Try> out;
  std::vector<SendQueue::Ended> ended;
  std::size_t taken = 0;
  TimePoint now = kStart;
  for (int step = 0; step < 300; ++step) {
    now += 1ms * *rc::gen::inRange(0, 300);
    switch (*rc::gen::inRange(0, 3)) {
      case 0:
        taken += queue.offer(
                     letter(*rc::gen::inRange<std::size_t>(0, static_cast<std::size_t>(channels))))
                     ? 1
                     : 0;
        break;
      case 1:
        if (auto next = queue.next(now, ended)) out.push_back(*std::move(next));
        break;
      default:
        if (out.empty()) break;
        queue.tried(std::move(out.back()), *rc::gen::arbitrary<bool>() ? kWentWell : kWentBadly,
                    now, ended);
        out.pop_back();
    }
    std::map<std::size_t, int> out_of;
    for (const auto& one : out) ++out_of[one.waiting.letter.channel];
    RC_ASSERT(queue.out() == static_cast<int>(out.size()) && queue.out() <= settings.threads_max);
    for (const auto& [channel, count] : out_of)
      RC_ASSERT(channels == 1 || count < settings.threads_max);
    RC_ASSERT(queue.waiting() + out.size() <= 20U + static_cast<unsigned>(settings.threads_max));
    RC_ASSERT(taken == ended.size() + out.size() + queue.waiting());
  }
}

}  // namespace
}  // namespace recourse::notify

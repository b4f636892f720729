// Many at once, while one channel hangs and another fails.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <thread>
#include <vector>

#include "base/manual_clock.h"
#include "notify/fake_channel.h"
#include "notify/notifier.h"

namespace recourse::notify {
namespace {

using namespace std::chrono_literals;

// NOTE-5, I11
TEST(NotifierLoad, TenThousandFromManyThreadsAllAddUpAndEachCallerHears) {
  constexpr int kThreads = 4;
  constexpr int kEach = 2'500;
  ManualClock clock(TimePoint(1'700'000'000s));
  NullLog log;
  Gate gate;
  NotifierParts parts;
  parts.channels = {
      std::make_shared<FakeChannel>("fine"), std::make_shared<FakeChannel>("bad", refuses),
      std::make_shared<FakeChannel>(
          "hangs", [&](const Notice&, const std::stop_token& stop) { return gate.pass(stop); })};
  std::array<std::atomic<int>, 3> recorded{};
  parts.on_delivery = [&](const Delivery& one) {
    if (!one.summary) ++recorded[static_cast<std::size_t>(one.result)];
  };
  auto notifier = Notifier::make({.router = {.defaults = {"fine", "bad", "hangs"}}},
                                 std::move(parts), clock, log)
                      .value();
  std::atomic<int> delivered = 0;
  std::atomic<int> others = 0;

  std::vector<std::jthread> threads;
  for (int thread = 0; thread < kThreads; ++thread) {
    threads.emplace_back([&, thread] {
      for (int i = 0; i < kEach; ++i) {
        notifier->fire(
            {.id = std::to_string(thread * kEach + i),
             .event = Event::kDeadLetter,
             .kind = task::Kind("kind-" + std::to_string(i % 3))},
            [&](const Ending& end) { ++(end.fate == Fate::kDelivered ? delivered : others); });
      }
    });
  }
  threads.clear();
  notifier->stop(0s);

  const NotifierCounts counts = notifier->counts();
  EXPECT_EQ(counts.fired, kThreads * kEach);
  EXPECT_EQ(counts.routed, 3 * kThreads * kEach);
  EXPECT_EQ(counts.sent + counts.failed + counts.suppressed, counts.routed);
  EXPECT_EQ(recorded[0] + recorded[1] + recorded[2], 3 * kThreads * kEach);
  EXPECT_EQ(delivered + others, kThreads * kEach);
}

}  // namespace
}  // namespace recourse::notify

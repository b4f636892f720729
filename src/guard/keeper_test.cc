#include "guard/keeper.h"

#include <gtest/gtest.h>

#include <condition_variable>
#include <mutex>

#include "base/manual_clock.h"
#include "guard/fake_table.h"

namespace recourse::guard {
namespace {

using namespace std::chrono_literals;

constexpr Duration kHold = 2s;

class KeeperTest : public ::testing::Test {
 protected:
  KeeperTest() : table_({.name = "user_bill", .table = "user_bill"}) {}

  Claim claim_of(std::int64_t id) {
    return {.row = {.id = id}, .token = TimePoint(10s), .now = TimePoint()};
  }
  // Waits for the n-th push. The keeper looks at the clock at least every half hold of real time.
  bool pushed(int times) {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, 10s, [&] { return pushes_ >= times; });
  }
  void answer(std::function<Result<bool>(Claim&)> how) {
    table_.on_push = [this, how = std::move(how)](Claim& claim, Duration) {
      Result<bool> answered = how(claim);
      const std::lock_guard lock(mutex_);
      ++pushes_;
      changed_.notify_all();
      return answered;
    };
  }

  FakeTable table_;
  ManualClock clock_{TimePoint()};
  MemoryLog log_;
  std::mutex mutex_;
  std::condition_variable changed_;
  int pushes_ = 0;
};

TEST_F(KeeperTest, ATokenIsPushedForAsLongAsUserCodeRuns) {
  answer([](Claim& claim) {
    claim.token += 1s;
    return true;
  });
  Keeper keeper(table_, clock_, log_, kHold);

  const auto kept = keeper.keep(claim_of(1), clock_.since_boot());
  for (int i = 1; i <= 5; ++i) {
    clock_.advance(kHold / 2);
    ASSERT_TRUE(pushed(i));
  }

  EXPECT_FALSE(kept->is_lost());
  const auto claim = kept->release();
  ASSERT_TRUE(claim);
  EXPECT_EQ(claim->token, TimePoint(15s)) << "the last token is what a write has to show";
}

TEST_F(KeeperTest, ARunThatEndsSoonCostsNoPush) {
  Keeper keeper(table_, clock_, log_, kHold);

  auto kept = keeper.keep(claim_of(1), clock_.since_boot());
  clock_.advance(kHold / 2 - 1ms);

  EXPECT_EQ(kept->release()->token, TimePoint(10s));
  EXPECT_TRUE(table_.calls().empty());
}

TEST_F(KeeperTest, ARowThatSomebodyElseChangedIsLostAtOnce) {
  answer([](Claim&) { return false; });
  Keeper keeper(table_, clock_, log_, kHold);

  const auto kept = keeper.keep(claim_of(1), clock_.since_boot());
  clock_.advance(kHold / 2);

  ASSERT_TRUE(pushed(1));
  EXPECT_EQ(kept->release(), std::nullopt);
}

TEST_F(KeeperTest, ADatabaseThatDoesNotAnswerIsAskedAgainUntilTheTokenEnds) {
  answer([this](Claim&) -> Result<bool> {
    const std::lock_guard lock(mutex_);
    if (pushes_ < 1) return fail(ErrorCode::kUnavailable, "it is away");
    return true;
  });
  Keeper keeper(table_, clock_, log_, kHold);
  const auto kept = keeper.keep(claim_of(1), clock_.since_boot());

  clock_.advance(kHold / 2);
  ASSERT_TRUE(pushed(1));
  // Told when it has taken the failure in.
  while (log_.lines().empty()) std::this_thread::yield();
  clock_.advance(kHold / 4);
  ASSERT_TRUE(pushed(2));

  EXPECT_TRUE(kept->release());
}

TEST_F(KeeperTest, ARowIsLostWhenItsTokenHasEndedWithoutAPush) {
  answer([](Claim&) -> Result<bool> { return fail(ErrorCode::kUnavailable, "it is away"); });
  Keeper keeper(table_, clock_, log_, kHold);

  const auto kept = keeper.keep(claim_of(1), clock_.since_boot());
  clock_.advance(kHold);

  EXPECT_TRUE(kept->is_lost()) << "whatever the keeper has noticed";
  ASSERT_TRUE(pushed(1));
  EXPECT_EQ(kept->release(), std::nullopt);
}

}  // namespace
}  // namespace recourse::guard

#include "guard/keeper.h"

#include <gmock/gmock.h>
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
  void answer(std::function<Result<Pushed>(Claim&)> how) {
    table_.on_push = [this, how = std::move(how)](std::span<Claim> claims,
                                                  Duration) -> Result<std::vector<Pushed>> {
      std::vector<Pushed> answers;
      std::optional<Error> failed;
      for (Claim& claim : claims) {
        const Result<Pushed> answered = how(claim);
        if (!answered) failed = answered.error();
        answers.push_back(answered.value_or(Pushed::kLocked));
      }
      const std::lock_guard lock(mutex_);
      ++pushes_;
      together_.push_back(claims.size());
      changed_.notify_all();
      if (failed) return fail(*failed);
      return answers;
    };
  }

  FakeTable table_;
  ManualClock clock_{TimePoint()};
  MemoryLog log_;
  std::mutex mutex_;
  std::condition_variable changed_;
  int pushes_ = 0;
  std::vector<std::size_t> together_;  // claims of each push
};

TEST_F(KeeperTest, ATokenIsPushedForAsLongAsUserCodeRuns) {
  answer([](Claim& claim) {
    claim.token += 1s;
    return Pushed::kHeld;
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
  answer([](Claim&) { return Pushed::kLost; });
  Keeper keeper(table_, clock_, log_, kHold);

  const auto kept = keeper.keep(claim_of(1), clock_.since_boot());
  clock_.advance(kHold / 2);

  ASSERT_TRUE(pushed(1));
  EXPECT_EQ(kept->release(), std::nullopt);
}

TEST_F(KeeperTest, ADatabaseThatDoesNotAnswerIsAskedAgainUntilTheTokenEnds) {
  answer([this](Claim&) -> Result<Pushed> {
    const std::lock_guard lock(mutex_);
    if (pushes_ < 1) return fail(ErrorCode::kUnavailable, "it is away");
    return Pushed::kHeld;
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
  answer([](Claim&) -> Result<Pushed> { return fail(ErrorCode::kUnavailable, "it is away"); });
  Keeper keeper(table_, clock_, log_, kHold);

  const auto kept = keeper.keep(claim_of(1), clock_.since_boot());
  clock_.advance(kHold);

  EXPECT_TRUE(kept->is_lost()) << "whatever the keeper has noticed";
  ASSERT_TRUE(pushed(1));
  EXPECT_EQ(kept->release(), std::nullopt);
}

// A database that takes its time for each call is asked rarely enough to keep all of them.
TEST_F(KeeperTest, RowsThatRunAtOnceArePushedTogether) {
  answer([](Claim& claim) {
    claim.token += 1s;
    return Pushed::kHeld;
  });
  Keeper keeper(table_, clock_, log_, kHold);
  std::vector<std::unique_ptr<Keeper::Kept>> kept;
  for (std::int64_t id = 1; id <= 100; ++id) {
    kept.push_back(keeper.keep(claim_of(id), clock_.since_boot()));
    clock_.advance(1ms);
  }

  clock_.advance(kHold / 2);

  ASSERT_TRUE(pushed(4));
  for (const auto& one : kept) EXPECT_EQ(one->release()->token, TimePoint(11s));
  const std::lock_guard lock(mutex_);
  EXPECT_THAT(together_, ::testing::ElementsAre(32, 32, 32, 4));
}

TEST_F(KeeperTest, OneRowThatIsLockedOrLostCostsTheOthersNothing) {
  answer([](Claim& claim) {
    if (claim.row.id == RowId(1)) return Pushed::kLost;
    if (claim.row.id == RowId(2)) return Pushed::kLocked;
    claim.token += 1s;
    return Pushed::kHeld;
  });
  Keeper keeper(table_, clock_, log_, kHold);
  const auto lost = keeper.keep(claim_of(1), clock_.since_boot());
  const auto locked = keeper.keep(claim_of(2), clock_.since_boot());
  const auto held = keeper.keep(claim_of(3), clock_.since_boot());

  clock_.advance(kHold / 2);
  ASSERT_TRUE(pushed(1));

  EXPECT_EQ(held->release()->token, TimePoint(11s));
  EXPECT_EQ(lost->release(), std::nullopt);
  EXPECT_EQ(locked->release()->token, TimePoint(10s)) << "ours until its token ends";
}

}  // namespace
}  // namespace recourse::guard

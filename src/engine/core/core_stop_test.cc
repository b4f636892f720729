// Leaving in order, whatever the store and the handlers do meanwhile.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/core/core_driver.h"

namespace recourse::engine {
namespace {

using namespace std::chrono_literals;
using ::testing::SizeIs;

void leave(CoreDriver& core, const task::Incarnation& self) {
  ASSERT_TRUE(core.take<ReadNodes>());
  const store::NodeRow row{.info = {.incarnation = self, .name = "node", .kinds = {}},
                           .started_at = core.now,
                           .beat = 1,
                           .beat_at = core.now};
  core.tell(NodesRead{std::vector{row}});
  ASSERT_TRUE(core.take<DeclareDead>());
  core.tell(DeclareEnded{self, true});
}

// STOP-2
TEST(CoreStop, WithoutALimitItWaitsForWhatRunsAndThenEnds) {
  CoreDriver core({}, {kMail});
  core.join();
  core.hold(kMail, 1);
  const Start start = core.starts().front();

  core.tell(StopRequest{Duration::max()});
  core.tell(AttemptBegun{.attempt = start.attempt, .at = core.now});
  EXPECT_FALSE(core.take<Stopped>());
  core.succeed(start);
  (void)core.applied();
  leave(core, core.status().node);

  const auto stopped = core.take<Stopped>();
  ASSERT_TRUE(stopped);
  EXPECT_EQ(stopped->finished, 1);
  core.settle();
  EXPECT_FALSE(core.take<Stopped>()) << "said once";
}

// STOP-1
TEST(CoreStop, RecallsWhatHasNotBegunAndHandsItBack) {
  CoreDriver core({}, {kMail}, at_once(1));
  core.join();
  core.hold(kMail, 2);
  const Start start = core.starts().front();

  core.tell(StopRequest{30s});
  ASSERT_TRUE(core.take<Recall>());
  core.tell(AttemptEnded{start.attempt, NotStarted{}});

  EXPECT_THAT(core.applied(), SizeIs(2));
  leave(core, core.status().node);
  EXPECT_EQ(core.take<Stopped>().value().released, 2);
}

TEST(CoreStop, AtOnceStillHandsBackWhatWasNotCalled) {
  CoreDriver core({}, {kMail});
  core.join();
  core.hold(kMail, 1);
  const Start start = core.starts().front();

  core.tell(StopRequest{0s});
  ASSERT_TRUE(core.take<Recall>());
  core.now += 100us;
  core.tell(AttemptEnded{start.attempt, NotStarted{}});

  EXPECT_FALSE(core.take<StopAttempt>());
  EXPECT_THAT(core.applied(), SizeIs(1));
}

TEST(CoreStop, TellsEveryHandlerThatStillRunsAtItsLimit) {
  CoreDriver core({}, {kMail});
  core.join();
  core.hold(kMail, 3);
  const std::vector<Start> starts = core.starts();
  core.tell(StopRequest{1s});
  (void)core.take_all<Recall>();
  for (const Start& start : starts)
    core.tell(AttemptBegun{.attempt = start.attempt, .at = core.now});

  core.advance(1s);

  EXPECT_THAT(core.take_all<StopAttempt>(), SizeIs(3));
}

// The store is gone: what runs is waited for and told all the same.
TEST(CoreStop, OfANodeThatIsNotLiveWaitsForWhatRuns) {
  CoreDriver core({}, {kMail});
  core.join();
  core.hold(kMail, 1);
  const Start start = core.starts().front();
  core.declared_dead();
  core.tell(AttemptBegun{.attempt = start.attempt, .at = core.now});

  core.tell(StopRequest{1s});
  EXPECT_FALSE(core.take<Stopped>());
  core.advance(1s);

  EXPECT_THAT(core.take_all<StopAttempt>(), SizeIs(1));
  EXPECT_TRUE(core.take<Stopped>());
}

TEST(CoreStop, AsksAgainForItsOwnRowWhenThatCouldNotBeRead) {
  CoreDriver core({}, {kMail});
  core.join();
  core.tell(StopRequest{1s});
  ASSERT_TRUE(core.take<ReadNodes>());

  core.tell(NodesRead{fail(ErrorCode::kUnavailable, "the store is gone")});
  core.now = core.next_wakeup();
  core.settle();

  EXPECT_TRUE(core.take<ReadNodes>());
}

// STOP-2: a store that is gone costs a few seconds beyond the limit, not three calls' worth.
TEST(CoreStop, WithoutAStoreEndsSoonAfterItsLimit) {
  CoreDriver core({}, {kMail});
  core.join();
  core.hold(kMail, 1);
  core.succeed(core.starts().front());
  const TimePoint asked_at = core.now;

  core.tell(StopRequest{1s});
  while (!core.take<Stopped>() && core.now < asked_at + 60s) {
    for (Apply& apply : core.take_all<Apply>()) {
      core.tell(ApplyEnded{apply.call, std::move(apply.batch),
                           fail(ErrorCode::kUnavailable, "the store is gone")});
    }
    core.advance(100ms);
  }

  EXPECT_LE(core.now - asked_at, 8s);
}

}  // namespace
}  // namespace recourse::engine

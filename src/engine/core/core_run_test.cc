// When attempts begin, in turn or alone, and how those that have not are taken back.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/core/core_driver.h"

namespace recourse::engine {
namespace {

using namespace std::chrono_literals;
using ::testing::IsEmpty;
using ::testing::SizeIs;

const task::Kind kMailKind{kMail};

// The lane has seen that its handlers are short.
void make_short(CoreDriver& core) {
  for (int i = 0; i < 40; ++i) {
    core.hold(kMail, 1);
    for (const Start& start : core.starts()) core.succeed(start, 0us);
    (void)core.applied();
  }
}

TEST(CoreRuns, LongHandlersHaveAThreadEach) {
  CoreDriver core({}, {kMail});
  core.join();

  core.hold(kMail, 20);

  const std::vector<engine::Run> runs = core.take_all<engine::Run>();
  EXPECT_THAT(runs, SizeIs(8));
  for (const engine::Run& run : runs) EXPECT_THAT(run.in_turn, SizeIs(1));
}

TEST(CoreRuns, ShortHandlersAreCalledInTurnByOneThread) {
  CoreDriver core({}, {kMail});
  core.join();
  make_short(core);

  core.submit(kMail);
  for (int i = 0; i < 49; ++i) core.submit(kMail);
  core.inserted();
  while (core.place_of<Insert>() < core.commands.size()) core.inserted();

  const std::vector<engine::Run> runs = core.take_all<engine::Run>();
  std::size_t handed = 0;
  for (const engine::Run& run : runs) handed += run.in_turn.size();
  EXPECT_EQ(handed, 50U);
  EXPECT_LT(runs.size(), 8U);
}

TEST(CoreRuns, APlaceIsFreeWhenTheLastOfItsAttemptsHasEnded) {
  CoreDriver core({}, {kMail}, at_once(1));
  core.join();
  make_short(core);
  core.hold(kMail, 2);
  for (const Start& start : core.starts()) core.succeed(start, 5us);
  (void)core.applied();
  for (int i = 0; i < 3; ++i) core.submit(kMail);
  while (core.place_of<Insert>() < core.commands.size()) core.inserted();

  const std::vector<Start> first = core.starts();
  core.hold(kMail, 1);
  EXPECT_THAT(core.starts(), IsEmpty()) << "the one place is taken";
  for (const Start& start : first) core.succeed(start, 5us);

  EXPECT_THAT(core.starts(), ::testing::Not(IsEmpty()));
}

TEST(CoreRuns, WhatHasNotBegunInTimeIsRecalledAndHandedOverAnew) {
  CoreDriver core({}, {kMail});
  core.join();
  core.hold(kMail, 1);
  const Start start = core.starts().front();

  core.advance(20ms);
  const auto recall = core.take<Recall>();
  ASSERT_TRUE(recall);
  EXPECT_EQ(recall->attempt, start.attempt);
  core.tell(AttemptEnded{start.attempt, NotStarted{}});

  const std::vector<Start> again = core.starts();
  ASSERT_THAT(again, SizeIs(1));
  EXPECT_EQ(again[0].task->id, start.task->id);
  EXPECT_EQ(again[0].number, 1) << "no attempt was used up";
}

TEST(CoreRuns, AHandlerThatOnlyFoundThatItHasToWaitUsesNoAttempt) {
  CoreDriver core({}, {kMail});
  core.join();
  core.hold(kMail, 1);
  const Start start = core.starts().front();
  policy::Decision wait = policy::retry(policy::Category::kBizRetryable, "WAITS", "not its turn");
  wait.snooze = 1s;
  wait.uses_retry = false;

  core.tell(AttemptEnded{start.attempt, Decided{.decision = wait, .attempted = false}});

  const std::vector<task::Transition> written = core.applied();
  ASSERT_THAT(written, SizeIs(1));
  EXPECT_EQ(written[0].attempts, 0);
  EXPECT_EQ(written[0].retries, 0);
}

TEST(CoreRuns, WhatIsHandedOverIsLentAndForgotten) {
  CoreDriver core({}, {kMail});
  core.join();
  core.hold(kMail, 1);
  const Start start = core.starts().front();

  core.tell(AttemptEnded{start.attempt, HandedOver{.to = task::WorkerName("w"), .lease_for = 30s}});

  const std::vector<task::Transition> written = core.applied();
  ASSERT_THAT(written, SizeIs(1));
  EXPECT_EQ(written[0].move, task::Move::kLend);
  ASSERT_TRUE(written[0].lending);
  EXPECT_EQ(written[0].lending->worker.value, "w");
  EXPECT_EQ(written[0].lending->lease_for, 30s);
  EXPECT_EQ(written[0].attempts, start.task->attempts) << "counted by its report";
  core.advance(1min);
  EXPECT_FALSE(core.take<StopAttempt>()) << "its time is not the engine's any more";
}

// ENG-7
TEST(CoreRuns, TheTimeOfAnAttemptRunsFromTheCallOfItsHandler) {
  CoreDriver core({}, {kMail});
  core.join();
  core.hold(kMail, 1);
  const Start start = core.starts().front();
  const TimePoint begun = core.now + 15ms;

  core.advance(20ms);
  ASSERT_TRUE(core.take<Recall>());
  core.tell(AttemptBegun{.attempt = start.attempt, .at = begun});

  // Heartbeats go on meanwhile.
  while (core.now < begun + 10s - 1ms) {
    core.advance(std::min<Duration>(5s, begun + 10s - 1ms - core.now));
    if (core.place_of<Heartbeat>() < core.commands.size()) core.beat();
  }
  EXPECT_FALSE(core.take<StopAttempt>());
  core.advance(101ms);
  EXPECT_TRUE(core.take<StopAttempt>()) << "within a tick of the wheel";
}

TEST(CoreRuns, APauseRecallsWhatHasNotBegunBeforeItIsConfirmed) {
  CoreDriver core({}, {kMail});
  core.join();
  core.hold(kMail, 1);
  const Start start = core.starts().front();
  core.tell(RequestHint{});

  core.beat({.version = 1, .kinds = {kMailKind}});

  EXPECT_LT(core.place_of<Recall>(), core.place_of<Heartbeat>())
      << "the heartbeat that confirms the pause comes after it";
  core.tell(AttemptEnded{start.attempt, NotStarted{}});
  const std::vector<task::Transition> written = core.applied();
  ASSERT_THAT(written, SizeIs(1));
  EXPECT_EQ(written[0].move, task::Move::kRelease);
}

TEST(CoreRuns, ANodeThatWasDeclaredDeadRecallsWhatHasNotBegun) {
  CoreDriver core({}, {kMail});
  core.join();
  core.hold(kMail, 1);
  const Start start = core.starts().front();

  core.declared_dead();
  ASSERT_TRUE(core.take<Recall>());
  core.tell(AttemptEnded{start.attempt, NotStarted{}});
  core.join();
  core.settle();

  EXPECT_THAT(core.starts(), IsEmpty());
  EXPECT_EQ(core.status().held, 0U) << "others have it";
}

TEST(CoreRuns, NothingIsHandedOverThatMustBeRecordedBehindOthers) {
  CoreDriver core({}, {kMail});
  core.join();
  make_short(core);
  core.tell(WorkHint{});
  const Claim claim = core.take<Claim>().value();
  std::vector<task::Task> tasks(3);
  for (std::size_t i = 0; i < tasks.size(); ++i) {
    tasks[i].id = task::TaskId(core.ids.next(core.now));
    tasks[i].spec.kind = kMailKind;
    tasks[i].state = task::State::kRunning;
    tasks[i].owner = claim.request.owner;
    tasks[i].ticket = {.fence = task::Fence(2), .lease = claim.request.lease};
    if (i == 1) tasks[i].start = task::StartMark::kAsked;
  }
  const task::TaskId asked = tasks[1].id;

  core.tell(ClaimEnded{claim.call, store::Claimed{.now = core.now, .tasks = tasks}});

  EXPECT_THAT(core.starts(), SizeIs(2));
  RecordStarts record = core.take<RecordStarts>().value();
  ASSERT_THAT(record.batch, SizeIs(1));
  EXPECT_EQ(record.batch[0].task, asked);
  core.tell(StartsEnded{record.call, record.batch, std::vector<bool>{true}});
  EXPECT_THAT(core.starts(), SizeIs(1));
}

// A core that asks to be woken for what it cannot do burns a processor.
TEST(CoreRuns, ARateDoesNotWakeANodeWhoseThreadsAreAllBusy) {
  NodeSettings settings;
  settings.executor.core_threads = 1;
  settings.executor.max_threads = 1;
  KindSettings kind = at_once(2);
  kind.rate.emplace();
  CoreDriver core(settings, {kMail}, kind);
  core.join();
  core.hold(kMail, 2);
  ASSERT_THAT(core.starts(), SizeIs(1));

  core.advance(50ms);
  (void)core.take<Recall>();

  EXPECT_GT(core.next_wakeup(), core.now);
}

TEST(CoreRuns, LanesOfStarredKindsGoWhenTheyAreIdle) {
  CoreDriver core({}, {kMail, "order-*"});
  core.join();
  for (int i = 0; i < 10; ++i) core.hold("order-" + std::to_string(i), 1);
  EXPECT_THAT(core.status().lanes, SizeIs(11));
  for (const Start& start : core.starts()) core.succeed(start);
  (void)core.applied();

  core.tell(NodesRead{std::vector<store::NodeRow>{}});
  EXPECT_THAT(core.status().lanes, SizeIs(11)) << "their rates still count";
  core.now += 30min;
  core.tell(NodesRead{std::vector<store::NodeRow>{}});

  EXPECT_THAT(core.status().lanes, SizeIs(1));
}

TEST(CoreRuns, ABreakerThatOpensRecallsWhatWasHandedOver) {
  KindSettings kind = at_once(2);
  kind.breaker.min_calls = 1;
  kind.breaker.window_calls = 1;
  CoreDriver core({}, {kMail}, kind);
  core.join();
  core.hold(kMail, 2);
  const std::vector<Start> starts = core.starts();
  ASSERT_THAT(starts, SizeIs(2));

  core.tell(AttemptEnded{starts[0].attempt, Failed{policy::Declined{"it is down"}}, 1ms});

  EXPECT_EQ(core.take<Recall>().value().attempt, starts[1].attempt);
}

TEST(CoreRuns, WhatAPersonPausesComesBackBeforeItBegins) {
  CoreDriver core({}, {kMail});
  core.join();
  core.hold(kMail, 1);
  const Start start = core.starts().front();
  core.tell(RequestHint{});

  store::Pulse pulse{.now = core.now, .pauses = {}, .requests = {}};
  pulse.requests.push_back({.task = start.task->id, .move = task::Move::kPause});
  core.tell(HeartbeatEnded{core.take<Heartbeat>().value().call, pulse});
  ASSERT_TRUE(core.take<Recall>());
  core.tell(AttemptEnded{start.attempt, NotStarted{}});

  const std::vector<task::Transition> written = core.applied();
  ASSERT_THAT(written, SizeIs(1));
  EXPECT_EQ(written[0].move, task::Move::kRelease);
}

// ENG-7
TEST(CoreRuns, AnAnswerAfterAVeryShortTimeoutIsTooLate) {
  CoreDriver core({}, {kMail});
  core.join();
  core.hold(kMail, 1);
  const Start start = core.starts().front();

  core.succeed(start, 10s + 1us);

  const std::vector<task::Transition> written = core.applied();
  ASSERT_THAT(written, SizeIs(1));
  EXPECT_NE(written[0].move, task::Move::kSucceed);
  EXPECT_EQ(written[0].error.value().code, "TIMEOUT");
}

TEST(CoreRuns, WhatWasNeverCalledGivesItsTokenBack) {
  KindSettings kind = at_once(4);
  kind.rate = policy::RateSettings{.per_second = 0.001, .burst = 1};
  CoreDriver core({}, {kMail}, kind);
  core.join();
  core.hold(kMail, 1);
  const Start start = core.starts().front();

  core.tell(AttemptEnded{start.attempt, NotStarted{}});

  EXPECT_THAT(core.starts(), SizeIs(1));
}

TEST(CoreRuns, AnAsynchronousStartIsHandedOverOnce) {
  KindSettings kind;
  kind.asynchronous = true;
  CoreDriver core({}, {kMail}, kind);
  core.join();
  core.hold(kMail, 1);
  ASSERT_THAT(core.starts(), SizeIs(1));

  core.advance(5s);

  EXPECT_FALSE(core.take<Recall>());
}

TEST(CoreRuns, ATaskOfAnotherShardIsNotBornHere) {
  NodeSettings settings;
  settings.shards = {.first = 0, .last = 0};
  CoreDriver core(settings, {kMail});
  core.join();

  core.hold(kMail, 1);

  EXPECT_THAT(core.starts(), IsEmpty());
  EXPECT_TRUE(core.take<HintOthers>()) << "whoever runs it is told";
}

}  // namespace
}  // namespace recourse::engine

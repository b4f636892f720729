// What the core asks of a store that refuses, loses answers, or is busy.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/core/core_driver.h"

namespace recourse::engine {
namespace {

using namespace std::chrono_literals;
using ::testing::SizeIs;

TEST(CoreInserts, OneIdTwiceIsTwoCalls) {
  CoreDriver core({}, {kMail});
  core.join();
  const task::TaskId id(core.ids.next(core.now));
  (void)core.submit(kMail);
  (void)core.submit(kMail, id, store::Novelty::kRepeat);
  (void)core.submit(kMail, id, store::Novelty::kRepeat);

  core.inserted();
  core.inserted();

  EXPECT_THAT(core.take<Insert>().value().batch, SizeIs(1));
}

TEST(CoreInserts, CallersWhoWereJustAnsweredAreWaitedForAMoment) {
  CoreDriver core({}, {kMail});
  core.join();
  (void)core.submit(kMail);
  (void)core.submit(kMail);
  core.now += 1ms;
  core.inserted();
  EXPECT_FALSE(core.take<Insert>()) << "whoever was answered may come back";

  (void)core.submit(kMail);

  EXPECT_THAT(core.take<Insert>().value().batch, SizeIs(2)) << "and did";
}

TEST(CoreInserts, TheMomentIsAFractionOfWhatTheLastCallTook) {
  CoreDriver core({}, {kMail});
  core.join();
  (void)core.submit(kMail);
  (void)core.submit(kMail);
  core.now += 1ms;
  core.inserted();

  EXPECT_EQ(core.next_wakeup(), core.now + 250us);
  core.advance(250us);

  EXPECT_THAT(core.take<Insert>().value().batch, SizeIs(1));
}

TEST(CoreInserts, AnotherCallIsOpenedForManyAndNotForFew) {
  CoreDriver core({}, {kMail});
  core.join();
  (void)core.submit(kMail);
  ASSERT_TRUE(core.take<Insert>());

  for (int i = 0; i < 63; ++i) (void)core.submit(kMail);
  EXPECT_FALSE(core.take<Insert>());
  (void)core.submit(kMail);

  EXPECT_THAT(core.take<Insert>().value().batch, SizeIs(64));
}

TEST(CoreInserts, ASubmitThatWaitsForItsKeyHoldsUpNobody) {
  CoreDriver core({}, {kMail});
  core.join();
  (void)core.submit(kMail);
  core.inserted(store::Insertion::kKeyBusy);
  const Insert waiting = core.take<Insert>().value();
  EXPECT_TRUE(waiting.may_wait);

  (void)core.submit(kMail);

  EXPECT_FALSE(core.take<Insert>().value().may_wait);
}

TEST(CoreInserts, AFewWaitForTheirKeysAtATime) {
  CoreDriver core({}, {kMail});
  core.join();

  for (int i = 0; i < 10; ++i) {
    (void)core.submit(kMail);
    for (Insert& insert : core.take_all<Insert>()) {
      if (insert.may_wait) continue;
      store::InsertAnswer busy{
          .now = {},
          .items = {{.result = store::Insertion::kKeyBusy, .task = insert.batch.front().id}}};
      core.tell(InsertEnded{insert.call, std::move(insert.batch), std::move(busy)});
    }
  }

  EXPECT_THAT(core.take_all<Insert>(), SizeIs(::testing::Le(4)));
}

TEST(CoreInserts, NobodyWaitsForAKeyLongerThanAStoreCallMayTake) {
  CoreDriver core({}, {kMail});
  core.join();
  (void)core.submit(kMail);
  core.now += 9s;
  core.inserted(store::Insertion::kKeyBusy);

  EXPECT_EQ(core.take<Insert>().value().within, 1s);
}

TEST(OutcomeLine, ASlowStoreIsOfferedSmallerBatches) {
  OutcomeLine line(1);
  for (int i = 0; i < 500; ++i) line.add({});
  TimePoint now{};
  std::size_t smallest = 500;

  for (int tries = 0; tries < 200; ++tries) {
    now = line.next_wakeup();
    auto batch = line.take(now);
    ASSERT_TRUE(batch);
    smallest = std::min(smallest, batch->size());
    (void)line.refused(*std::move(batch), {ErrorCode::kInDoubt, "no answer in time"}, now);
  }

  EXPECT_LE(smallest, 32U);
  EXPECT_GT(smallest, 8U) << "an outage must not leave five hundred calls behind";
  EXPECT_EQ(line.waiting() > 0, true);
}

// Whoever else is in an exclusive store is dead; but asking is not answered faster by asking again.
TEST(CoreLife, ADeclarationThatFailedIsNotRepeatedAtOnce) {
  NodeSettings settings;
  settings.exclusive_store = true;
  CoreDriver core(settings, {kMail});
  core.join();
  const task::Incarnation other(core.ids.next(core.now));
  const store::NodeRow row{.info = {.incarnation = other, .name = "former", .kinds = {}},
                           .started_at = core.now,
                           .beat = 1,
                           .beat_at = core.now};
  core.tell(NodesRead{std::vector{row}});
  ASSERT_TRUE(core.take<DeclareDead>());

  core.tell(DeclareEnded{other, fail(ErrorCode::kUnavailable, "the disk is full")});

  EXPECT_FALSE(core.take<DeclareDead>());
  EXPECT_GT(core.next_wakeup(), core.now);
  core.advance(5s);
  EXPECT_TRUE(core.take<DeclareDead>());
}

// LEASE-4: when a peer has beaten for the last time, and this node adopts what it owned.
Duration adopted_after(Duration peers_phase) {
  CoreDriver core({}, {kMail});
  core.join();
  const TimePoint first_beat = core.now + peers_phase;
  const TimePoint last_beat = first_beat + 30s;
  store::NodeRow peer;
  peer.info.incarnation = task::Incarnation(core.ids.next(core.now));
  while (core.now < last_beat + 60s) {
    core.advance(100ms);
    peer.beat = std::min<std::int64_t>((core.now - first_beat) / 10s, 3);
    if (core.place_of<Heartbeat>() < core.commands.size()) core.beat();
    if (core.take<ReadNodes>()) core.tell(NodesRead{std::vector{peer}});
    if (core.take<Adopt>()) core.tell(AdoptEnded{store::Adopted{}});
    if (!core.take<DeclareDead>()) continue;
    core.tell(DeclareEnded{peer.info.incarnation, true});
    if (core.take<Adopt>()) break;
  }
  return core.now - last_beat;
}

TEST(CoreLife, WhatADeadNodeOwnedIsAdoptedWithinOneAndAHalfTtls) {
  const Duration ttl = LeaseSettings().ttl;

  for (Duration phase{}; phase < 10s; phase += 700ms) {
    const Duration after = adopted_after(phase);

    EXPECT_GE(after, ttl);
    EXPECT_LE(after, ttl * 3 / 2);
  }
}

// LEASE-5
TEST(CoreLife, ANodeThatCannotRenewStartsNothingBeforeItsLeaseEnds) {
  CoreDriver core({}, {kMail}, at_once(1));
  core.join();
  core.hold(kMail, 2);
  const Start first = core.starts().front();

  while (core.now < core.joined_at + 27s) {
    core.advance(1s);
    for (const Heartbeat& beat : core.take_all<Heartbeat>()) {
      core.tell(HeartbeatEnded{beat.call, fail(ErrorCode::kUnavailable, "the store is gone")});
    }
  }
  core.succeed(first);

  EXPECT_THAT(core.starts(), SizeIs(0)) << "nine tenths of the TTL have passed";
  EXPECT_TRUE(core.take<Apply>()) << "what has finished is offered all the same";
}

// LEASE-5
TEST(LeaseSettings, TheDefaultsAreThoseOfTheSources) {
  const LeaseSettings lease;
  EXPECT_EQ(lease.ttl, 30s);
  EXPECT_EQ(lease.renew_ahead, 10s);
  EXPECT_EQ(heartbeat_interval(lease), 10s);
  EXPECT_EQ(fenced_after(lease), 27s);
}

}  // namespace
}  // namespace recourse::engine

#include "notify/alerts/watched_alert.h"

#include <gtest/gtest.h>

#include <limits>

namespace recourse::notify {
namespace {

using namespace std::chrono_literals;

constexpr TimePoint kFirstLook{1'700'000'000s};
constexpr Duration kAlertHold = AlertTimes().hold;
constexpr Duration kAlertKept = AlertTimes().kept;

AlertDefinition dead_letters() {
  return {.name = "dead", .rule = {.fire_at = 100, .clear_at = 80, .fire_after = 1min}};
}

// A node that watches one alert, and the record that it shares with others.
struct Watcher {
  WatchedAlert alert{dead_letters()};

  std::optional<AlertStep> look(TimePoint now, double figure,
                                const std::optional<AlertState>& stored,
                                const std::string& id = "a1") {
    return alert.look({.steady = now,
                       .wall = now,
                       .figure = figure,
                       .stored = stored,
                       .fresh_id = id,
                       .node = "n1"});
  }
  // As it is after a look that fired and was written.
  AlertState fired(TimePoint now = kFirstLook) {
    EXPECT_FALSE(look(now - 1min, 120, std::nullopt));
    const auto step = look(now, 120, std::nullopt);
    EXPECT_TRUE(step && step->tell);
    alert.telling(step->write);
    return step->write;
  }
};

// DEGR-5, MSG-11: thresholds with hysteresis.
TEST(WatchedAlert, FiresOnceTheFigureHasStayedBadAndClearsBelowItsLowerLimit) {
  Watcher node;
  AlertState state = node.fired();
  EXPECT_TRUE(state.firing);
  EXPECT_EQ(state.figure, 120);
  EXPECT_EQ(state.id, "a1");
  node.alert.ended("a1", true);
  const auto told = node.look(kFirstLook + 1s, 90, state);
  ASSERT_TRUE(told);
  EXPECT_TRUE(told->write.told);
  EXPECT_FALSE(told->tell);
  state = told->write;

  EXPECT_FALSE(node.look(kFirstLook + 2s, 90, state)) << "neither bad nor good";
  const auto cleared = node.look(kFirstLook + 3s, 80, state, "a2");
  ASSERT_TRUE(cleared);
  EXPECT_FALSE(cleared->write.firing);
  EXPECT_TRUE(cleared->tell);
  EXPECT_EQ(cleared->write.id, "a2");
}

TEST(WatchedAlert, AnotherNodeThatSeesTheSameSaysNothing) {
  Watcher first;
  Watcher second;
  EXPECT_FALSE(second.look(kFirstLook - 1min, 120, std::nullopt));
  const AlertState state = first.fired();

  EXPECT_FALSE(second.look(kFirstLook, 120, state));
  EXPECT_FALSE(second.look(kFirstLook + kAlertHold - 1s, 120, state));
}

TEST(WatchedAlert, WhatADeadNodeDidNotTellIsToldByAnotherUnderTheSameId) {
  const AlertState state = Watcher().fired();
  Watcher other;

  const auto step = other.look(kFirstLook + kAlertHold, 120, state, "a9");

  ASSERT_TRUE(step);
  EXPECT_TRUE(step->tell);
  EXPECT_EQ(step->write.id, "a1");
  EXPECT_EQ(step->write.held_until, kFirstLook + 2 * kAlertHold);
}

TEST(WatchedAlert, WhatIsStillOnItsWayIsHeldForLonger) {
  Watcher node;
  const AlertState state = node.fired();

  EXPECT_FALSE(node.look(kFirstLook + kAlertHold / 2 - 1s, 120, state));
  const auto step = node.look(kFirstLook + kAlertHold / 2, 120, state);

  ASSERT_TRUE(step);
  EXPECT_FALSE(step->tell);
  EXPECT_EQ(step->write.held_until, kFirstLook + kAlertHold / 2 + kAlertHold);
}

TEST(WatchedAlert, WhatCouldNotBeToldIsToldAgainWhenItsHoldIsOver) {
  Watcher node;
  const AlertState state = node.fired();
  node.alert.ended("a1", false);

  EXPECT_FALSE(node.look(kFirstLook + kAlertHold - 1s, 120, state));
  const auto step = node.look(kFirstLook + kAlertHold, 120, state);

  ASSERT_TRUE(step);
  EXPECT_TRUE(step->tell);
}

TEST(WatchedAlert, AfterARestartItGoesOnFromWhatIsStored) {
  AlertState state = Watcher().fired();
  state.told = true;
  Watcher restarted;

  EXPECT_FALSE(restarted.look(kFirstLook + 2min, 150, state)) << "it is known already";
  const auto cleared = restarted.look(kFirstLook + 3min, 10, state, "a2");
  ASSERT_TRUE(cleared);
  EXPECT_FALSE(cleared->write.firing);
}

TEST(WatchedAlert, AFiringOneIsRenewedBeforeItsRecordIsGone) {
  Watcher node;
  AlertState state = node.fired();
  state.told = true;
  EXPECT_FALSE(node.look(kFirstLook + kAlertKept / 2 - 1s, 120, state));

  const auto step = node.look(kFirstLook + kAlertKept / 2, 120, state);

  ASSERT_TRUE(step);
  EXPECT_FALSE(step->tell);
  EXPECT_EQ(step->write.written_at, kFirstLook + kAlertKept / 2);
  EXPECT_EQ(step->write.since, kFirstLook);
}

TEST(WatchedAlert, WordOfAnEarlierChangeSaysNothingOfThisOne) {
  Watcher node;
  const AlertState state = node.fired();
  node.alert.ended("a0", true);

  EXPECT_FALSE(node.look(kFirstLook + 1s, 120, state));
}

TEST(WatchedAlert, ARateThatHasNothingLeftToCountIsOver) {
  Watcher node;
  AlertState state = node.fired();
  state.told = true;
  constexpr double kNothing = std::numeric_limits<double>::quiet_NaN();

  const auto cleared = node.look(kFirstLook + 1min, kNothing, state, "a2");

  ASSERT_TRUE(cleared);
  EXPECT_FALSE(cleared->write.firing);
  EXPECT_FALSE(Watcher().look(kFirstLook, kNothing, std::nullopt)) << "and never begins";
}

TEST(WatchedAlert, WhoeverStopsWritesDownOnlyWhatPeopleWereTold) {
  Watcher node;
  const AlertState state = node.fired();
  EXPECT_FALSE(node.alert.told_mark(state, kFirstLook));
  node.alert.ended("a1", true);

  const auto told = node.alert.told_mark(state, kFirstLook);

  ASSERT_TRUE(told);
  EXPECT_TRUE(told->told);
}

TEST(WatchedAlert, RareLooksHaveLongerTimes) {
  EXPECT_EQ(times_for(15s).hold, 1min);
  EXPECT_EQ(times_for(1h).hold, 3h);
  EXPECT_EQ(times_for(1h).kept, 4h);
}

}  // namespace
}  // namespace recourse::notify

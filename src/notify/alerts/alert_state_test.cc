#include "notify/alerts/alert_state.h"

#include <gtest/gtest.h>

namespace recourse::notify {
namespace {

using namespace std::chrono_literals;

TEST(AlertState, SurvivesTheStore) {
  const AlertState state{.firing = true,
                         .since = TimePoint(5s),
                         .id = "alt_1",
                         .figure = 0.1,
                         .node = "n\"1",
                         .told = true,
                         .held_until = TimePoint(6s),
                         .written_at = TimePoint(7s)};
  EXPECT_EQ(parse_alert_state(to_value(state)), state);
}

TEST(AlertState, WhatIsNotOursIsNotRead) {
  for (const char* text : {"", "{}", "[]", "null", R"({"firing": 1})", R"({"firing": true})"}) {
    EXPECT_FALSE(parse_alert_state(text)) << text;
  }
}

TEST(AlertState, TheNoticeSaysWhatCrossedWhichLine) {
  const AlertDefinition alert{.name = "too many dead",
                              .kinds = {"orders.*"},
                              .rule = {.fire_at = 100, .clear_at = 80},
                              .severity = Severity::kError};
  const AlertState state{
      .firing = true, .since = TimePoint(5s), .id = "alt_1", .figure = 120, .node = "n1"};

  const Notice fired = notice_of(alert, state, {.node = "n2"});

  EXPECT_EQ(fired.event, Event::kAlertFired);
  EXPECT_EQ(fired.severity, Severity::kError);
  EXPECT_EQ(fired.id, "alt_1");
  EXPECT_EQ(fired.reason, "too many dead");
  EXPECT_EQ(fired.kind.value, "orders.*");
  EXPECT_EQ(fired.last_error, "dead tasks of orders.*: 120 (at or above 100)");
  EXPECT_EQ(fired.attributes.at("seen_by"), "n1");

  const AlertState over{.firing = false, .id = "alt_2", .figure = 3, .node = "n1"};
  const Notice cleared = notice_of(alert, over, {.node = "n1"});
  EXPECT_EQ(cleared.event, Event::kAlertCleared);
  EXPECT_EQ(severity_of(cleared), Severity::kInfo);
  EXPECT_EQ(cleared.last_error, "dead tasks of orders.*: 3 (at or below 80)");
}

TEST(AlertState, AFigureOfOneNodeHasARecordOfThatNode) {
  EXPECT_EQ(record_name({.name = "a", .figure = AlertFigure::kCount}, "n1"), "a");
  EXPECT_EQ(record_name({.name = "a", .figure = AlertFigure::kStalled}, "n1"), "a@n1");
}

}  // namespace
}  // namespace recourse::notify

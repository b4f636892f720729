// Alerts in the configuration. DEGR-5, MSG-11
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "app/config/load_driver.h"

namespace recourse::app {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::SizeIs;

std::string with_alert(const std::string& keys) {
  return "notify: {alerts: [{name: late, " + keys + "}]}";
}

TEST(AlertConfig, ALimitAndWhereItIsGoodAgain) {
  const Config config = config_of(with_alert(
      "figure: oldest_due, kinds: [orders.*], at-least: 60, clear: 5, for: 1m, severity: error"));
  ASSERT_THAT(config.notify.alerts, SizeIs(1));
  const notify::AlertDefinition& alert = config.notify.alerts[0].alert;
  EXPECT_EQ(alert.name, "late");
  EXPECT_EQ(alert.figure, notify::AlertFigure::kOldestDue);
  EXPECT_THAT(alert.kinds, ElementsAre("orders.*"));
  EXPECT_EQ(alert.rule.side, policy::AlertSide::kAbove);
  EXPECT_EQ(alert.rule.fire_at, 60);
  EXPECT_EQ(alert.rule.clear_at, 5);
  EXPECT_EQ(alert.rule.fire_after, std::chrono::minutes(1));
  EXPECT_EQ(alert.severity, notify::Severity::kError);
}

TEST(AlertConfig, WhereItIsGoodAgainFollowsFromTheLimit) {
  EXPECT_EQ(config_of(with_alert("at-least: 100")).notify.alerts[0].alert.rule.clear_at, 80);
  EXPECT_EQ(
      config_of(with_alert("figure: live_nodes, at-most: 0")).notify.alerts[0].alert.rule.clear_at,
      1);
}

TEST(AlertConfig, WhatCannotWorkIsRefusedWithAWayOut) {
  EXPECT_THAT(
      problems_of(with_alert("figure: backlog")),
      ElementsAre(HasSubstr("notify.alerts.late needs at-least or at-most, one of them; for "
                            "example at-least: 100")));
  EXPECT_THAT(problems_of(with_alert("at-least: 1, at-most: 2")),
              ElementsAre(HasSubstr("needs at-least or at-most, one of them")));
  EXPECT_THAT(problems_of(with_alert("at-least: 10, clear: 20")),
              ElementsAre(HasSubstr("notify.alerts.late.clear (20) must be less than at-least")));
  EXPECT_THAT(
      problems_of(with_alert("figure: failure_rate, at-least: 50")),
      ElementsAre(HasSubstr("a failure_rate is between 0 and 1; for half of all attempts 0.5")));
  EXPECT_THAT(problems_of(with_alert("figure: backlog, kinds: [mail], at-least: 20000")),
              ElementsAre(HasSubstr("is never reached: a backlog is counted up to 10000 a kind")));
  EXPECT_THAT(problems_of("notify: {alerts: [{name: a@b, at-least: 1}]}"),
              ElementsAre(HasSubstr("must not have an @")));
  EXPECT_THAT(problems_of(with_alert("figure: dead_letters, at-least: 1")),
              ElementsAre(HasSubstr("count, backlog, oldest_due")));
}

}  // namespace
}  // namespace recourse::app

#include "notify/alerts/lately.h"

#include <gtest/gtest.h>

#include <cmath>

#include "notify/alerts/motion.h"

namespace recourse::notify {
namespace {

using namespace std::chrono_literals;

constexpr TimePoint kMorning{1'700'000'000s};

AlertDefinition rate_of(std::string kind) {
  return {.name = "rate of " + kind,
          .figure = AlertFigure::kFailureRate,
          .kinds = {std::move(kind)},
          .within = 100s,
          .min_attempts = 4};
}

TEST(Lately, ARateIsOfItsKindsAndOfItsTime) {
  const AlertDefinition orders = rate_of("orders.*");
  Lately lately({orders});
  for (int i = 0; i < 3; ++i) lately.attempted("orders.pay", true, kMorning);
  lately.attempted("mail", false, kMorning);
  EXPECT_TRUE(std::isnan(lately.figure(orders, kMorning))) << "too few to tell";

  lately.attempted("orders.send", false, kMorning + 50s);
  EXPECT_DOUBLE_EQ(lately.figure(orders, kMorning + 50s), 0.75);

  for (int i = 0; i < 4; ++i) lately.attempted("orders.send", false, kMorning + 130s);
  EXPECT_DOUBLE_EQ(lately.figure(orders, kMorning + 130s), 0) << "the failures are too long ago";
}

TEST(Lately, TakeoversAndLostNodesAreCounted) {
  const AlertDefinition takeovers{.name = "t", .figure = AlertFigure::kTakeovers, .within = 100s};
  const AlertDefinition lost{.name = "l", .figure = AlertFigure::kLostNodes, .within = 100s};
  Lately lately({takeovers, lost});
  lately.took_over(40, kMorning);
  lately.took_over(2, kMorning + 1s);
  lately.lost_node(kMorning);

  EXPECT_EQ(lately.figure(takeovers, kMorning + 1s), 42);
  EXPECT_EQ(lately.figure(lost, kMorning + 1s), 1);
  EXPECT_EQ(lately.figure(lost, kMorning + 200s), 0);
}

TEST(Motion, StandsStillUntilTheMarkChanges) {
  Motion motion;
  EXPECT_EQ(motion.still_for(5, BootTime(10s)), 0s);
  EXPECT_EQ(motion.still_for(5, BootTime(25s)), 15s);
  EXPECT_EQ(motion.still_for(4, BootTime(30s)), 0s) << "the store's clock was set back";
  EXPECT_EQ(motion.still_for(6, BootTime(31s)), 0s);
}

}  // namespace
}  // namespace recourse::notify

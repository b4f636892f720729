#include "policy/alert_rule.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cmath>
#include <vector>

#include "policy/test_moments.h"

namespace recourse::policy {
namespace {

using namespace std::chrono_literals;

TEST(AlertRule, FiresAtItsLimitAndClearsWellBelowIt) {
  AlertRule rule({.fire_at = 10, .clear_at = 5});

  EXPECT_EQ(rule.observe(kStart, 9), std::nullopt);
  EXPECT_EQ(rule.observe(kStart, 10), AlertChange::kFired);
  EXPECT_EQ(rule.observe(kStart, 12), std::nullopt) << "once per episode";
  EXPECT_EQ(rule.observe(kStart, 6), std::nullopt) << "not yet well";
  EXPECT_EQ(rule.observe(kStart, 5), AlertChange::kCleared);
}

TEST(AlertRule, AShortSpikeDoesNotFire) {
  AlertRule rule({.fire_at = 10, .clear_at = 5, .fire_after = 30s});

  EXPECT_EQ(rule.observe(kStart, 10), std::nullopt);
  EXPECT_EQ(rule.observe(kStart + 20s, 9), std::nullopt) << "this breaks the streak";
  EXPECT_EQ(rule.observe(kStart + 21s, 10), std::nullopt);
  EXPECT_EQ(rule.observe(kStart + 50s, 10), std::nullopt);
  EXPECT_EQ(rule.observe(kStart + 51s, 10), AlertChange::kFired);
}

TEST(AlertRule, ClearsOnlyAfterItHasBeenWellForLongEnough) {
  AlertRule rule({.fire_at = 10, .clear_at = 5, .clear_after = 60s});
  rule.observe(kStart, 10);

  EXPECT_EQ(rule.observe(kStart + 1s, 0), std::nullopt);
  EXPECT_EQ(rule.observe(kStart + 60s, 0), std::nullopt);
  EXPECT_EQ(rule.observe(kStart + 61s, 0), AlertChange::kCleared);
}

TEST(AlertRule, TooLittleIsBadWhereTheRuleSaysSo) {
  AlertRule rule({.side = AlertSide::kBelow, .fire_at = 0, .clear_at = 1});

  EXPECT_EQ(rule.observe(kStart, 2), std::nullopt);
  EXPECT_EQ(rule.observe(kStart, 0), AlertChange::kFired);
  EXPECT_EQ(rule.observe(kStart, 1), AlertChange::kCleared);
}

TEST(AlertRule, AFigureThatIsNotANumberIsNoNews) {
  AlertRule rule({.fire_at = 10, .clear_at = 5, .fire_after = 10s});
  rule.observe(kStart, 10);

  EXPECT_EQ(rule.observe(kStart + 5s, std::nan("")), std::nullopt);

  EXPECT_EQ(rule.observe(kStart + 10s, 10), AlertChange::kFired);
}

TEST(AlertSettings, WithoutAGapThereIsNoHysteresis) {
  EXPECT_EQ(validate(AlertSettings{.fire_at = 5, .clear_at = 5}).error().message,
            "alert.clear_at must be less than alert.fire_at");
  EXPECT_EQ(validate(AlertSettings{.side = AlertSide::kBelow, .fire_at = 5, .clear_at = 5})
                .error()
                .message,
            "alert.clear_at must be more than alert.fire_at");
  EXPECT_EQ(validate(AlertSettings{.fire_after = -1s}).error().message,
            "alert.fire_after must be between 0s and 30d, not -1s");
}

RC_GTEST_PROP(AlertRule, FiringAndClearingAlternate, ()) {
  AlertRule rule({.fire_at = 10, .clear_at = 5, .fire_after = 2s, .clear_after = 3s});
  TimePoint now = kStart;

  for (const int figure : *rc::gen::container<std::vector<int>>(rc::gen::inRange(0, 15))) {
    const bool before = rule.firing();
    const std::optional<AlertChange> change = rule.observe(now, figure);
    now += 1s;

    RC_ASSERT(change.has_value() == (before != rule.firing()));
    if (change == AlertChange::kFired) RC_ASSERT(figure >= 10);
    if (change == AlertChange::kCleared) RC_ASSERT(figure <= 5);
  }
}

TEST(AlertSettings, BadOnesAreRefusedByNameAndRange) {
  EXPECT_EQ(validate(AlertSettings{.fire_at = 1e16, .clear_after = -1s}).error().message,
            "alert.fire_at must be between -1000000000000000 and 1000000000000000, not 1e+16; "
            "alert.clear_after must be between 0s and 30d, not -1s");
}

}  // namespace
}  // namespace recourse::policy

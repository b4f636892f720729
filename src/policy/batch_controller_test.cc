#include "policy/batch_controller.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <vector>

namespace recourse::policy {
namespace {

TEST(BatchController, ShrinksAtOnceUnderPressureAndSaysWhy) {
  BatchController controller({.initial = 2'000});

  const std::optional<BatchChange> change =
      controller.observe({.executor_queue = 0.92, .wheel = 0.1});

  ASSERT_TRUE(change);
  EXPECT_EQ(change->from, 2'000);
  EXPECT_EQ(change->to, 500);
  EXPECT_EQ(change->reason, "executor queue 92% full, wheel 10% full: under pressure");
  EXPECT_EQ(controller.last_change()->to, controller.batch());
}

TEST(BatchController, AFullWheelIsPressureToo) {
  BatchController controller({});

  EXPECT_TRUE(controller.observe({.executor_queue = 0, .wheel = 0.95}));
  EXPECT_EQ(controller.batch(), 50);
}

TEST(BatchController, GrowsBackInSmallSteps) {
  BatchController controller({.initial = 500});
  int steps = 0;

  while (controller.batch() < 2'000) {
    const int before = controller.batch();
    controller.observe({});
    ASSERT_LE(controller.batch(), before + before / 10 + 1);
    ++steps;
  }

  EXPECT_GT(steps, 10);
}

TEST(BatchController, RoundingHoldsItNeitherUpNorDown) {
  BatchController controller({.min = 1, .max = 9, .initial = 5, .shrink_to = 0.9, .grow_by = 0.01});

  for (int i = 0; i < 10; ++i) controller.observe({.executor_queue = 1});
  EXPECT_EQ(controller.batch(), 1);
  for (int i = 0; i < 10; ++i) controller.observe({});
  EXPECT_EQ(controller.batch(), 9);
}

TEST(BatchController, BetweenCalmAndPressureNothingChanges) {
  BatchController controller({});

  EXPECT_FALSE(controller.observe({.executor_queue = 0.6, .wheel = 0.79}));
  EXPECT_FALSE(controller.last_change());
}

TEST(BatchSettings, BadOnesAreRefusedByNameAndRange) {
  EXPECT_EQ(validate(BatchSettings{.min = 0}).error().message,
            "batch.min must be between 1 and 100000, not 0");
  EXPECT_EQ(validate(BatchSettings{.min = 500, .max = 100}).error().message,
            "batch.min must not be more than batch.max");
  EXPECT_EQ(validate(BatchSettings{.pressure_at = 0.5, .calm_at = 0.5}).error().message,
            "batch.calm_at must be less than batch.pressure_at");
}

RC_GTEST_PROP(BatchController, StaysWithinItsLimitsAndReportsEveryChange, ()) {
  BatchController controller({.min = 3, .max = 700, .initial = 50});
  const auto fills = *rc::gen::container<std::vector<int>>(rc::gen::inRange(0, 300));

  for (const int percent : fills) {
    const int before = controller.batch();
    const std::optional<BatchChange> change =
        controller.observe({.executor_queue = percent / 100.0});

    RC_ASSERT(controller.batch() >= 3);
    RC_ASSERT(controller.batch() <= 700);
    RC_ASSERT(change.has_value() == (before != controller.batch()));
    if (percent >= 80) RC_ASSERT(controller.batch() <= before);
    if (percent <= 50) RC_ASSERT(controller.batch() >= before);
  }
}

TEST(BatchController, RoundsToTheNearest) {
  BatchController controller({.min = 1, .initial = 100, .shrink_to = 0.29});

  controller.observe({.executor_queue = 1});

  EXPECT_EQ(controller.batch(), 29) << "100 x 0.29 is 28.999... in binary";
}

TEST(BatchController, TheBordersBelongToPressureAndToCalm) {
  BatchController controller({});

  EXPECT_TRUE(controller.observe({.executor_queue = 0.8}));
  EXPECT_TRUE(controller.observe({.executor_queue = 0.5}));
}

TEST(BatchController, TheSmallestBatchGrowsToo) {
  BatchController controller({.min = 1, .initial = 1});

  controller.observe({});

  EXPECT_EQ(controller.batch(), 2);
}

TEST(BatchController, StartsWithinItsLimits) {
  EXPECT_EQ(BatchController({.initial = 1}).batch(), 50);
  EXPECT_EQ(BatchController({.initial = 100'000}).batch(), 2'000);
}

}  // namespace
}  // namespace recourse::policy

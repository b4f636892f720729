#include "policy/reminder_ladder.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "policy/test_moments.h"

namespace recourse::policy {
namespace {

using namespace std::chrono_literals;

TEST(ReminderLadder, EveryPauseIsOneIntervalLonger) {  // GUARD-12
  const ReminderSettings settings{.interval = 1h};

  EXPECT_EQ(next_reminder(settings, kStart, 0), kStart + 1h);
  EXPECT_EQ(next_reminder(settings, kStart, 1), kStart + 2h);
  EXPECT_EQ(next_reminder(settings, kStart, 4), kStart + 5h);
}

TEST(ReminderSettings, BadOnesAreRefusedByNameAndRange) {
  EXPECT_EQ(validate(ReminderSettings{.interval = 0s}).error().message,
            "reminder.interval must be between 1s and 365d, not 0s");
}

RC_GTEST_PROP(ReminderLadder, NeverRemindsBeforeItsIntervalHoweverOftenItDid, (int sent)) {
  const ReminderSettings settings{.interval = 24h * 365};

  RC_ASSERT(next_reminder(settings, kStart, sent) >= kStart + settings.interval);
}

}  // namespace
}  // namespace recourse::policy

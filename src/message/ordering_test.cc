#include "message/ordering.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace recourse::message {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;

TEST(OrderPause, GrowsWithTheTimeThatItHasWaited) {
  const OrderSettings settings;

  EXPECT_EQ(order_pause(0s, settings), 250ms);
  EXPECT_EQ(order_pause(4s, settings), 1s);
  EXPECT_EQ(order_pause(1h, settings), 1min);
}

// Each pause ends with a write, of every message behind a head that waits for a person.
TEST(OrderPause, BoundsWhatWaitingWrites) {
  const OrderSettings settings;
  int first_minutes = 0;
  Duration waited = 0s;
  for (; waited < 4min; waited += order_pause(waited, settings)) ++first_minutes;
  int day = 0;
  for (; waited < 24h; waited += order_pause(waited, settings)) ++day;

  EXPECT_LE(first_minutes, 32);
  EXPECT_LE(day, 24 * 60);
}

TEST(OrderSettings, EveryBadFieldIsNamed) {
  EXPECT_TRUE(validate(OrderSettings{}));
  EXPECT_THAT(validate(OrderSettings{.pause_min = 2s, .pause_max = 1s}).error().message,
              HasSubstr("order.pause_max"));
}

}  // namespace
}  // namespace recourse::message

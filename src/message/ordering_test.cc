#include "message/ordering.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace recourse::message {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;

TEST(OrderPause, GrowsWithTheTimeThatItHasWaited) {
  const OrderSettings settings;

  EXPECT_EQ(order_pause(0s, 1, settings), 250ms);
  EXPECT_EQ(order_pause(4s, 1, settings), 1s);
  EXPECT_EQ(order_pause(1h, 1, settings), 2s);
}

TEST(OrderPause, GrowsWithThoseAhead) {
  const OrderSettings settings;

  EXPECT_EQ(order_pause(0s, 3, settings), 750ms);
  EXPECT_EQ(order_pause(1h, 10, settings), 20s);
  EXPECT_EQ(order_pause(1h, 1'000'000, settings), 60s);
  EXPECT_EQ(order_pause(1h, 5, {.pause_min = 2min, .pause_max = 2min}), 2min);
}

TEST(OrderSettings, EveryBadFieldIsNamed) {
  EXPECT_TRUE(validate(OrderSettings{}));
  EXPECT_THAT(validate(OrderSettings{.pause_min = 2s, .pause_max = 1s}).error().message,
              HasSubstr("order.pause_max"));
}

}  // namespace
}  // namespace recourse::message

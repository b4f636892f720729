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
  EXPECT_EQ(order_pause(1h, settings), 2s);
}

TEST(OrderSettings, EveryBadFieldIsNamed) {
  EXPECT_TRUE(validate(OrderSettings{}));
  EXPECT_THAT(validate(OrderSettings{.pause_min = 2s, .pause_max = 1s}).error().message,
              HasSubstr("order.pause_max"));
}

}  // namespace
}  // namespace recourse::message

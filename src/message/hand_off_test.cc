#include "message/hand_off.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace recourse::message {
namespace {

using ::testing::ElementsAre;

class HandOffTest : public ::testing::Test {
 protected:
  // Their ids are numbers, in the order in which they were offered.
  void offer(int count) {
    std::vector<Message> batch;
    for (int i = 0; i < count; ++i) batch.push_back({.id = std::to_string(++offered_)});
    hand_off_.offer(std::move(batch));
  }
  std::vector<std::string> take() {
    std::vector<std::string> ids;
    const std::vector<Message> batch = hand_off_.take().value();
    for (const Message& message : batch) ids.push_back(message.id);
    return ids;
  }

  HandOff hand_off_{4};
  int offered_ = 0;
};

TEST_F(HandOffTest, SmallOnesThatWaitBecomeOneBatchAndNoneIsLargerThanTheLimit) {
  offer(1);
  offer(2);
  offer(4);
  offer(2);

  EXPECT_THAT(take(), ElementsAre("1", "2", "3", "4"));
  EXPECT_THAT(take(), ElementsAre("5", "6", "7", "8"));
  EXPECT_THAT(take(), ElementsAre("9"));
}

TEST_F(HandOffTest, AFewBatchesWaitAndTheBrokerKeepsTheRest) {
  for (int i = 0; i < 4; ++i) {
    EXPECT_EQ(hand_off_.room(), 4U) << i;
    offer(4);
  }

  EXPECT_EQ(hand_off_.room(), 0U);
  (void)take();
  EXPECT_EQ(hand_off_.room(), 4U);
  offer(2);
  EXPECT_EQ(hand_off_.room(), 2U);
}

TEST_F(HandOffTest, WhatWaitsAtTheCloseIsTheBrokersAgain) {
  for (int i = 0; i < 4; ++i) offer(4);

  hand_off_.close();
  offer(4);

  EXPECT_FALSE(hand_off_.take());
  EXPECT_EQ(hand_off_.room(), 4U);
}

}  // namespace
}  // namespace recourse::message

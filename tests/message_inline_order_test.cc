// Order within a key: nothing overtakes one that failed, or that is left to the broker.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "store/limits.h"
#include "tests/message_inline_fixture.h"

namespace recourse::message {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::Not;

TEST_F(MessageConsumer, OfAnOrderedGroupThoseBehindAFailureWait) {
  settings_.handling.ordered = true;
  Consumer consumer = make();
  during_ = [](Call& call) {
    if (call.message.id == "m-1") throw std::runtime_error("timeout");
  };

  const auto answers = consumer.consume(
      std::vector{message("m-1", "", "a"), message("m-2", "", "a"), message("m-3", "", "b")}, {});
  const auto later = consumer.consume(std::vector{message("m-4", "", "a")}, {});

  EXPECT_THAT(endings(answers),
              ElementsAre(Ending::kRecorded, Ending::kRecorded, Ending::kProcessed));
  EXPECT_EQ(task_of(answers[1]).attempts, 0) << "it was not run";
  EXPECT_THAT(endings(later), ElementsAre(Ending::kRecorded));
  EXPECT_EQ(runs_, 2);
}

// What another thread has in its hands is not overtaken by those behind it.
TEST_F(MessageConsumer, OfAnOrderedGroupNothingOvertakesOneThatIsLeftToTheBroker) {
  settings_.handling.ordered = true;
  Consumer consumer = make();
  std::vector<Result<Consumption>> meanwhile;
  during_ = [&](Call& call) {
    if (call.message.id != "m-1") return;
    const std::vector batch{message("m-0", "", "a"), message("m-1", "", "a"),
                            message("m-1", "", "a"), message("m-2", "", "a"),
                            message("m-3", "", "b"), message("m-3", "", "b"),
                            message("m-4", "", "b")};
    std::thread([&] { meanwhile = consumer.consume(batch, {}); }).join();
  };

  const auto first = consumer.consume(std::vector{message("m-1", "", "a")}, {});

  EXPECT_THAT(endings(first), ElementsAre(Ending::kProcessed));
  ASSERT_EQ(meanwhile.size(), 7U);
  EXPECT_TRUE(meanwhile[0]) << "it comes before";
  EXPECT_EQ(meanwhile[1].error().code, ErrorCode::kConflict);
  EXPECT_EQ(meanwhile[2].error().code, ErrorCode::kConflict);
  ASSERT_FALSE(meanwhile[3]);
  EXPECT_EQ(meanwhile[3].error().code, ErrorCode::kUnavailable);
  EXPECT_TRUE(meanwhile[4]) << "another key";
  EXPECT_TRUE(meanwhile[5]);
  EXPECT_TRUE(meanwhile[6]) << "a twin keeps nobody waiting";
  EXPECT_EQ(runs_, 1 + 1 + 2);
}

// A store that fails once, in the middle of a batch of several parts.
TEST_F(MessageConsumer, OfAnOrderedGroupWhatIsLeftToTheBrokerHoldsUpTheNextPartToo) {
  settings_.handling.ordered = true;
  Consumer consumer = make();
  std::vector<Message> batch;
  for (std::size_t i = 0; i < store::kBatchRowsMax; ++i) {
    batch.push_back(message("m-" + std::to_string(i), "", "a"));
  }
  batch.push_back(message("behind", "", "a"));
  batch.push_back(message("beside", "", "b"));
  bool has_failed = false;
  store_.shaky.refuse = [&](std::span<const store::Dealt>) {
    return std::exchange(has_failed, true) ? std::nullopt : std::optional(ErrorCode::kUnavailable);
  };
  std::vector<std::string> ran;
  during_ = [&](Call& call) { ran.push_back(call.message.id); };

  const auto answers = consumer.consume(batch, {});

  EXPECT_FALSE(answers[0]);
  EXPECT_FALSE(answers[store::kBatchRowsMax]);
  EXPECT_TRUE(answers[store::kBatchRowsMax + 1]);
  EXPECT_THAT(ran, Not(Contains("behind")));
}

// One by one, because one of them is bad: a run that the store does not take now is not repeated.
TEST_F(MessageConsumer, WhatIsMarkedOneByOneIsRememberedWhenTheStoreGoesAway) {
  settings_.handling.ordered = true;
  settings_.flush_after = 1h;
  Consumer consumer = make();
  during_ = [](Call& call) {
    if (call.message.id == "m-2") throw std::runtime_error("timeout");
  };
  int singles = 0;
  store_.shaky.refuse = [&](std::span<const store::Dealt> batch) -> std::optional<ErrorCode> {
    if (batch.size() > 1) return ErrorCode::kInvalid;
    return ++singles == 2 ? std::optional(ErrorCode::kUnavailable) : std::nullopt;
  };
  const std::vector batch{message("m-1", "", "a"), message("m-2", "", "b"), message("m-3", "", "b"),
                          message("m-4", "", "c")};

  const auto answers = consumer.consume(batch, {});
  const auto again = consumer.consume(batch, {});

  EXPECT_TRUE(answers[0]);
  EXPECT_EQ(answers[1].error().code, ErrorCode::kUnavailable);
  EXPECT_FALSE(answers[2]) << "it would be recorded before the one that it waits for";
  EXPECT_FALSE(answers[3]);
  EXPECT_THAT(endings(again), ElementsAre(Ending::kSkipped, Ending::kRecorded, Ending::kRecorded,
                                          Ending::kProcessed));
  EXPECT_EQ(runs_, 3);
}

}  // namespace
}  // namespace recourse::message

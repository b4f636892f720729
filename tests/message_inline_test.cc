// A message on its way through a consumer: done, recorded, or left to its broker.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "tests/message_inline_fixture.h"

namespace recourse::message {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// MSG-1
TEST_F(MessageConsumer, WhatIsDoneIsMarkedAndSkippedWhenItComesAgain) {
  Consumer consumer = make();
  const std::vector batch{message("m-1"), message("m-2")};

  const auto first = consumer.consume(batch, {});
  const auto second = consumer.consume(batch, {});

  EXPECT_THAT(endings(first), ElementsAre(Ending::kProcessed, Ending::kProcessed));
  EXPECT_EQ(first[0]->business_id, "order m-1");
  EXPECT_THAT(endings(second), ElementsAre(Ending::kSkipped, Ending::kSkipped));
  EXPECT_EQ(runs_, 2);
  EXPECT_EQ(store_.shaky.marks, 1) << "one write for a batch";
}

// MSG-1, MSG-2, MSG-6: recorded with what people find it by, due a second later.
TEST_F(MessageConsumer, AFailureIsRecordedAndWaitsForItsRetry) {
  Consumer consumer = make();
  during_ = [](Call& call) {
    call.about = "o-1";
    throw std::runtime_error("stock service: connection refused");
  };

  const auto answers = consumer.consume(std::vector{message("m-1", R"({"n": 1})")}, {});

  ASSERT_THAT(endings(answers), ElementsAre(Ending::kRecorded));
  EXPECT_EQ(answers[0]->status, Status::kRetrying);
  EXPECT_THAT(answers[0]->error, HasSubstr("connection refused"));
  const task::Task task = task_of(answers[0]);
  EXPECT_EQ(task.state, task::State::kPending);
  EXPECT_EQ(task.retries, 1);
  EXPECT_EQ(task.attempts, 1);
  EXPECT_EQ(task.due_at, clock_.now() + 1s);
  EXPECT_EQ(task.spec.payload, R"({"n": 1})");
  EXPECT_EQ(task.spec.search_keys.at("message_id"), "m-1");
  EXPECT_EQ(task.spec.search_keys.at("business_id"), "o-1");
  EXPECT_THAT(hints_, ElementsAre(Duration(1s)));
  EXPECT_THAT(log_.lines(), Contains(HasSubstr("message_consume_failed message=m-1")));
  EXPECT_THAT(endings(consumer.consume(std::vector{message("m-1")}, {})),
              ElementsAre(Ending::kSkipped));
  EXPECT_EQ(runs_, 1);
}

// MSG-4
TEST_F(MessageConsumer, WhatIsNotRetryableIsForAPersonAtOnce) {
  Consumer consumer = make();
  during_ = [](Call&) { throw std::runtime_error("balance is short"); };

  const auto answers = consumer.consume(std::vector{message("m-1")}, {});

  EXPECT_EQ(answers[0]->status, Status::kPending);
  EXPECT_EQ(task_of(answers[0]).state, task::State::kDead);
  EXPECT_EQ(escalations_, 1);
  EXPECT_THAT(hints_, IsEmpty());
}

// MSG-12: neither done nor recorded, and so not acknowledged.
TEST_F(MessageConsumer, WithoutABodyItIsForAPersonAndNoHandlerIsCalled) {
  Consumer consumer = make();
  Message without = message("m-1");
  without.unreadable = "the entry has no field body";

  const auto answers = consumer.consume(std::vector{without}, {});

  ASSERT_TRUE(answers.front());
  EXPECT_EQ(answers.front()->how, Ending::kRecorded);
  EXPECT_EQ(runs_, 0);
  EXPECT_EQ(escalations_, 1);
}

TEST_F(MessageConsumer, TheSameMessageTwiceInABatchIsRunOnce) {
  Consumer consumer = make();

  const auto answers =
      consumer.consume(std::vector{message("m-1"), message("m-1"), message("m-2")}, {});

  EXPECT_THAT(endings(answers),
              ElementsAre(Ending::kProcessed, Ending::kSkipped, Ending::kProcessed));
  EXPECT_EQ(runs_, 2);
}

// Redelivery while the first handler runs is recognised.
TEST_F(MessageConsumer, ARedeliveryDuringTheFirstRunIsRefusedAndKnownAfterwards) {
  Consumer consumer = make();
  std::optional<Result<Consumption>> meanwhile;
  during_ = [&](Call& call) {
    if (meanwhile) return;
    meanwhile.emplace();
    const std::vector again{call.message};
    std::thread([&] { meanwhile = std::move(consumer.consume(again, {})[0]); }).join();
  };

  const auto first = consumer.consume(std::vector{message("m-1")}, {});

  EXPECT_THAT(endings(first), ElementsAre(Ending::kProcessed));
  ASSERT_FALSE(*meanwhile);
  EXPECT_EQ(meanwhile->error().code, ErrorCode::kConflict);
  EXPECT_THAT(endings(consumer.consume(std::vector{message("m-1")}, {})),
              ElementsAre(Ending::kSkipped));
  EXPECT_EQ(runs_, 1);
}

TEST_F(MessageConsumer, WhatFailedAndIsTooLargeForARecordStaysWithItsBroker) {
  Consumer consumer = make();
  during_ = [](Call&) { throw std::runtime_error("timeout"); };
  const std::vector batch{message("m-1", std::string(300 * 1024, 'x')), message("m-2")};

  const auto answers = consumer.consume(batch, {});

  ASSERT_FALSE(answers[0]);
  EXPECT_EQ(answers[0].error().code, ErrorCode::kInvalid);
  EXPECT_TRUE(answers[1]);
  EXPECT_THAT(consumer.deal()(batch, {}).value(), ElementsAre(Dealing::kRefused, Dealing::kDone));
  EXPECT_THAT(consumer.deal()(batch, {}).value(),
              ElementsAre(Dealing::kRefusedAgain, Dealing::kDone));
  EXPECT_EQ(std::ranges::count_if(log_.lines(),
                                  [](const std::string& line) {
                                    return line.find("message_not_recorded") != std::string::npos;
                                  }),
            1)
      << "told once, however often it comes";
}

TEST_F(MessageConsumer, AStopLeavesTheRestToTheBroker) {
  Consumer consumer = make();
  std::stop_source stop;
  during_ = [&](Call&) { stop.request_stop(); };

  const auto answers =
      consumer.consume(std::vector{message("m-1"), message("m-2")}, stop.get_token());

  EXPECT_TRUE(answers[0]);
  EXPECT_FALSE(answers[1]);
  EXPECT_EQ(runs_, 1);
}

}  // namespace
}  // namespace recourse::message

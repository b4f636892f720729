// Marks of messages: what is known of a run whose mark, or transaction, could not be written.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "message/in_flight.h"
#include "message/key.h"
#include "tests/message_inline_fixture.h"

namespace recourse::message {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

TEST_F(MessageConsumer, NothingIsRunWhileTheStoreCannotSayWhetherItWasDone) {
  Consumer consumer = make();
  store_.shaky.is_down = true;

  const auto answers = consumer.consume(std::vector{message("m-1")}, {});

  ASSERT_FALSE(answers[0]);
  EXPECT_EQ(answers[0].error().code, ErrorCode::kUnavailable);
  EXPECT_EQ(runs_, 0);
  const auto dealt = consumer.deal()(std::vector{message("m-1")}, {});
  EXPECT_FALSE(dealt) << "the feeder waits, and tries again";
}

// MSG-12: a run whose mark could not be written is not repeated when its message comes again.
TEST_F(MessageConsumer, ARunThatCouldNotBeMarkedIsMarkedLaterAndNotRepeated) {
  Consumer consumer = make();
  store_.shaky.refuses_marks = true;
  during_ = [](Call& call) {
    if (call.message.id == "m-2") throw std::runtime_error("timeout");
  };
  const std::vector batch{message("m-1"), message("m-2")};

  const auto refused = consumer.consume(batch, {});
  store_.shaky.refuses_marks = false;
  const auto answers = consumer.consume(batch, {});

  EXPECT_FALSE(refused[0]);
  EXPECT_FALSE(refused[1]);
  EXPECT_THAT(endings(answers), ElementsAre(Ending::kProcessed, Ending::kRecorded));
  EXPECT_EQ(runs_, 2);
}

// The store took the marks, and its reply was lost: what is told is what was done.
TEST_F(MessageConsumer, AMarkThatIsThereAfterAllIsToldAsIfItHadBeenAnswered) {
  settings_.handling.ordered = true;
  Consumer consumer = make();
  store_.shaky.loses_replies = true;
  during_ = [](Call& call) {
    if (call.message.id == "m-2") throw std::runtime_error("timeout");
  };
  const std::vector batch{message("m-1"), message("m-2", "{}", "a"), message("m-3", "{}", "a")};

  const auto in_doubt = consumer.consume(batch, {});
  store_.shaky.loses_replies = false;
  const auto answers = consumer.consume(batch, {});
  const auto later = consumer.consume(batch, {});

  for (const auto& answer : in_doubt) EXPECT_EQ(answer.error().code, ErrorCode::kInDoubt);
  ASSERT_THAT(endings(answers),
              ElementsAre(Ending::kProcessed, Ending::kRecorded, Ending::kRecorded));
  EXPECT_EQ(answers[0]->business_id, "order m-1");
  EXPECT_EQ(answers[1]->status, Status::kRetrying);
  EXPECT_THAT(answers[1]->error, HasSubstr("timeout"));
  EXPECT_EQ(task_of(answers[1]).attempts, 1);
  EXPECT_EQ(task_of(answers[2]).attempts, 0);
  EXPECT_EQ(runs_, 2);
  EXPECT_THAT(log_.lines(), Contains(HasSubstr("message_consume_failed message=m-2")).Times(1));
  EXPECT_THAT(log_.lines(), Not(Contains(HasSubstr("message_handled_twice"))));
  EXPECT_THAT(endings(later), ElementsAre(Ending::kSkipped, Ending::kSkipped, Ending::kSkipped));
}

// It becomes visible only while the message is marked once more.
TEST_F(MessageConsumer, AMarkThatIsSeenLateIsToldAsIfItHadBeenAnswered) {
  Consumer consumer = make();
  store_.shaky.loses_replies = true;
  during_ = [](Call& call) {
    if (call.message.id == "m-2") throw std::runtime_error("timeout");
  };
  const std::vector batch{message("m-1"), message("m-2")};

  (void)consumer.consume(batch, {});
  store_.shaky.loses_replies = false;
  store_.shaky.sees_late = true;
  const auto answers = consumer.consume(batch, {});

  ASSERT_THAT(endings(answers), ElementsAre(Ending::kProcessed, Ending::kRecorded));
  EXPECT_EQ(task_of(answers[1]).attempts, 1);
  EXPECT_EQ(runs_, 2);
  EXPECT_THAT(log_.lines(), Not(Contains(HasSubstr("message_handled_twice"))));
}

TEST_F(MessageConsumer, AMarkThatIsAnothersIsSkippedAndToldAsHandledTwice) {
  Consumer consumer = make();
  Consumer other = make();
  store_.shaky.refuses_marks = true;
  (void)consumer.consume(std::vector{message("m-1")}, {});
  store_.shaky.refuses_marks = false;
  (void)other.consume(std::vector{message("m-1")}, {});

  const auto answers = consumer.consume(std::vector{message("m-1")}, {});

  EXPECT_THAT(endings(answers), ElementsAre(Ending::kSkipped));
  EXPECT_THAT(log_.lines(), Contains(HasSubstr("message_handled_twice message=m-1")));
}

// Marks wait no longer than that for others.
TEST_F(MessageConsumer, MarksAreWrittenBetweenHandlersThatTakeLonger) {
  settings_.flush_after = 0ms;
  Consumer consumer = make();
  std::vector<int> marks;
  during_ = [&](Call&) { marks.push_back(store_.shaky.marks); };

  (void)consumer.consume(std::vector{message("m-1"), message("m-2"), message("m-3")}, {});

  EXPECT_THAT(marks, ElementsAre(0, 1, 2));
}

// A transaction that never commits is no reason to hold up the source for ever.
TEST_F(MessageConsumer, ARunThatDoesNotCommitIsRecorded) {
  settings_.in_transaction = true;
  Consumer consumer = make();

  const auto answers = consumer.consume(std::vector{message("m-1")}, {});

  ASSERT_THAT(endings(answers), ElementsAre(Ending::kRecorded));
  EXPECT_EQ(answers[0]->status, Status::kRetrying);
  EXPECT_EQ(answers[0]->business_id, "order m-1");
  EXPECT_THAT(answers[0]->error, HasSubstr("deferred constraint"));
  EXPECT_EQ(task_of(answers[0]).last_error->code, "STORE_COMMIT_FAILED");
  EXPECT_THAT(endings(consumer.consume(std::vector{message("m-1")}, {})),
              ElementsAre(Ending::kSkipped));
  EXPECT_EQ(runs_, 1);
}

// The transaction's own mark comes through after the look for it: there is nothing to record.
TEST_F(MessageConsumer, ARunWhoseCommitComesThroughLateIsProcessed) {
  settings_.in_transaction = true;
  Consumer consumer = make();
  store_.stubborn.commits_late = true;
  bool is_there = false;
  store_.shaky.refuse = [&](std::span<const store::Dealt> batch) -> std::optional<ErrorCode> {
    if (std::exchange(is_there, true)) return std::nullopt;
    const std::vector own{store::Dealt{.key = batch[0].key, .keep_for = 1h}};
    EXPECT_TRUE(store_.shaky.mark(own, 1s));
    return std::nullopt;
  };

  const auto answers = consumer.consume(std::vector{message("m-1")}, {});

  ASSERT_THAT(endings(answers), ElementsAre(Ending::kProcessed));
  EXPECT_EQ(answers[0]->business_id, "order m-1");
  EXPECT_THAT(log_.lines(), Not(Contains(HasSubstr("message_handled_twice"))));
}

TEST_F(MessageConsumer, ARunThatDidNotBeginOrCannotBeAskedForIsLeftToTheBroker) {
  settings_.in_transaction = true;
  Consumer consumer = make();
  store_.stubborn.is_down = true;
  const auto not_begun = consumer.consume(std::vector{message("m-1")}, {});
  store_.stubborn.is_down = false;
  during_ = [&](Call&) { store_.shaky.is_down = true; };
  const auto in_doubt = consumer.consume(std::vector{message("m-2")}, {});

  ASSERT_FALSE(not_begun[0]);
  EXPECT_EQ(not_begun[0].error().code, ErrorCode::kUnavailable);
  ASSERT_FALSE(in_doubt[0]);
  EXPECT_EQ(in_doubt[0].error().code, ErrorCode::kUnavailable);
  EXPECT_EQ(runs_, 1);
}

// An earlier attempt's commit comes through while the retry runs, which stumbles over its effect.
TEST_F(MessageConsumer, ARetryThatFailsOnItsOwnEarlierEffectIsDone) {
  settings_.in_transaction = true;
  Consumer consumer = make();
  const auto task = std::make_shared<const task::Task>(
      task_of(consumer.consume(std::vector{message("m-1")}, {})[0]));
  bool is_there = false;
  during_ = [&](Call& call) {
    const std::vector mark{store::Dealt{.key = done_key_of(call.key), .keep_for = 1h}};
    if (is_there) {
      EXPECT_TRUE(store_.shaky.mark(mark, 1s));
    }
    throw std::runtime_error("duplicate key");
  };
  const auto retried = [&] {
    const auto inbox = std::make_shared<engine::Inbox>();
    const auto run = std::make_shared<engine::AttemptRun>(
        engine::Start{.attempt = {}, .task = task, .number = 2}, inbox);
    consumer.retry(run);
    for (const engine::Event& event : inbox->close()) {
      const auto* const ended = std::get_if<engine::AttemptEnded>(&event);
      if (ended != nullptr) return std::holds_alternative<engine::Succeeded>(ended->result);
    }
    ADD_FAILURE() << "no answer";
    return false;
  };

  EXPECT_FALSE(retried());
  is_there = true;
  EXPECT_TRUE(retried());
}

TEST_F(MessageConsumer, MarksWhoseTimeIsOverAreSweptPageAfterPage) {
  settings_.handling.keep_done_for = 1ms;
  std::vector<Message> batch;
  for (int i = 0; i < 1'200; ++i) batch.push_back(message("m-" + std::to_string(i)));
  (void)make().consume(batch, {});
  clock_.advance(1s);
  store_.shaky.sweeps = 0;

  (void)make().consume(std::vector{message("another")}, {});

  EXPECT_EQ(store_.shaky.sweeps, 3);
  EXPECT_EQ(store_.shaky.sweep(500, 1s).value(), 0U);
}

class InFlightRuns : public ::testing::Test {
 protected:
  static store::MessageKey key(std::size_t number) {
    return store::MessageKey(std::to_string(number));
  }
  std::optional<Ran> recall(std::size_t number) { return in_flight_.recall(key(number), 0, 1h); }

  InFlight in_flight_;
};

TEST_F(InFlightRuns, TheOldestAreForgottenWhenThereAreTooMany) {
  for (std::size_t i = 0; i < InFlight::kUnmarkedMax; ++i) in_flight_.remember(key(i), {});
  in_flight_.remember(key(0), {.business_id = "again"});

  in_flight_.remember(key(InFlight::kUnmarkedMax), {});

  EXPECT_FALSE(recall(1));
  EXPECT_EQ(recall(0)->business_id, "again");
  EXPECT_TRUE(recall(2));
  EXPECT_TRUE(recall(InFlight::kUnmarkedMax));
  EXPECT_FALSE(recall(2));
}

TEST_F(InFlightRuns, AnotherMessageOfTheSameIdWasNotRun) {
  in_flight_.remember(key(1), {});
  in_flight_.remember(key(2), {});

  EXPECT_FALSE(in_flight_.recall(key(1), 1, 1h)) << "it was published once more";
  EXPECT_FALSE(in_flight_.recall(key(2), 0, -1us)) << "its mark would be swept by now";
}

// Two processes: the mark has one winner.
TEST_F(MessageConsumer, OfTwoConsumersThatRunAMessageAtOnceOneMarksIt) {
  Consumer consumer = make();
  Consumer other = make();
  std::vector<Result<Consumption>> others;
  bool is_inside = false;
  during_ = [&](Call& call) {
    if (std::exchange(is_inside, true)) return;
    others = other.consume(std::vector{call.message}, {});
  };

  const auto mine = consumer.consume(std::vector{message("m-1")}, {});

  EXPECT_THAT(endings(others), ElementsAre(Ending::kProcessed));
  EXPECT_THAT(endings(mine), ElementsAre(Ending::kSkipped));
  EXPECT_THAT(log_.lines(), Contains(HasSubstr("message_handled_twice message=m-1")));
}

}  // namespace
}  // namespace recourse::message

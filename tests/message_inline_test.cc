// Handling messages on the consumer's own thread, over a store in memory that can be taken away.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <latch>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "base/manual_clock.h"
#include "message/consumer.h"
#include "message/failed_run.h"
#include "store/memory/memory_store.h"

namespace recourse::message {
namespace {

using namespace std::chrono_literals;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

const TimePoint kStart = TimePoint(std::chrono::hours(24 * 365 * 50));

// A store whose inbox can be taken away.
class ShakyInbox final : public store::Inbox {
 public:
  explicit ShakyInbox(store::Inbox& under) : under_(under) {}

  Result<std::vector<std::optional<store::Seen>>> look_up(std::span<const store::MessageKey> keys,
                                                          Duration within) override {
    if (is_down) return fail(ErrorCode::kUnavailable, "the store is away");
    return under_.look_up(keys, within);
  }
  Result<std::vector<store::Marked>> mark(std::span<const store::Dealt> batch,
                                          Duration within) override {
    ++marks;
    if (is_down || refuses_marks) return fail(ErrorCode::kUnavailable, "the store is away");
    return under_.mark(batch, within);
  }
  Result<std::size_t> forget(std::span<const store::MessageKey> keys, Duration within) override {
    return under_.forget(keys, within);
  }
  Result<std::size_t> sweep(std::size_t limit, Duration within) override {
    return under_.sweep(limit, within);
  }

  bool is_down = false;
  bool refuses_marks = false;
  int marks = 0;

 private:
  store::Inbox& under_;
};

class ShakyStore final : public store::OpenedStore {
 public:
  explicit ShakyStore(const Clock& clock)
      : under_(store::memory::open(store::memory::make_data(), clock)), shaky(under_->inbox()) {}
  store::Store& store() override { return under_->store(); }
  store::Reader& reader() override { return under_->reader(); }
  store::Records& records() override { return under_->records(); }
  store::Cases& cases() override { return under_->cases(); }
  store::Creates& creates() override { return under_->creates(); }
  store::Inbox& inbox() override { return shaky; }

 private:
  std::unique_ptr<store::OpenedStore> under_;

 public:
  ShakyInbox shaky;
};

Message message(std::string id, std::string body = "{}", std::string key = "") {
  Message made;
  made.source = "shop";
  made.topic = "orders";
  made.id = std::move(id);
  made.key = std::move(key);
  made.body = std::move(body);
  return made;
}

class MessageConsumer : public ::testing::Test {
 protected:
  MessageConsumer() {
    rules_.settings.backoff = {.strategy = "message", .base = 1s, .min = 0s, .max = 1h};
    rules_.router = router_of(nullptr);
    settings_.group = "billing";
    settings_.handling.kind = task::Kind("billing");
  }

  Consumer make() {
    return {settings_,
            {.opened = store_,
             .rules = rules_,
             .ids = ids_,
             .log = log_,
             .store_now = [this] { return clock_.now(); },
             .node = [] { return task::Incarnation(); },
             .hint = [this](Duration in) { hints_.push_back(in); },
             .escalated = [this] { ++escalations_; }},
            [this](Call& call) { return handle(call); }};
  }

  std::string handle(Call& call) {
    ++runs_;
    if (during_) during_(call);
    return "order " + call.message.id;
  }

  static std::vector<Ending> endings(const std::vector<Result<Consumption>>& answers) {
    std::vector<Ending> all;
    for (const auto& answer : answers) {
      EXPECT_TRUE(answer) << (answer ? "" : answer.error().message);
      if (answer) all.push_back(answer->how);
    }
    return all;
  }
  task::Task task_of(const Result<Consumption>& answer) {
    return store_.reader().find(answer->record.value(), 1s).value();
  }

  ManualClock clock_{kStart};
  ShakyStore store_{clock_};
  UlidSource ids_{clock_, 1};
  MemoryLog log_;
  engine::KindRules rules_;
  ConsumerSettings settings_;
  std::vector<Duration> hints_;
  std::atomic<int> escalations_ = 0;
  std::atomic<int> runs_ = 0;
  std::function<void(Call&)> during_;
};

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

// Marks wait no longer than that for others.
TEST_F(MessageConsumer, MarksAreWrittenBetweenHandlersThatTakeLonger) {
  settings_.flush_after = 0ms;
  Consumer consumer = make();
  std::vector<int> marks;
  during_ = [&](Call&) { marks.push_back(store_.shaky.marks); };

  (void)consumer.consume(std::vector{message("m-1"), message("m-2"), message("m-3")}, {});

  EXPECT_THAT(marks, ElementsAre(0, 1, 2));
}

TEST_F(MessageConsumer, WhatFailedAndIsTooLargeForARecordStaysWithItsBroker) {
  Consumer consumer = make();
  during_ = [](Call&) { throw std::runtime_error("timeout"); };
  const std::vector batch{message("m-1", std::string(300 * 1024, 'x')), message("m-2")};

  const auto answers = consumer.consume(batch, {});

  ASSERT_FALSE(answers[0]);
  EXPECT_EQ(answers[0].error().code, ErrorCode::kInvalid);
  EXPECT_TRUE(answers[1]);
  EXPECT_THAT(log_.lines(), Contains(HasSubstr("message_not_recorded")));
  EXPECT_THAT(consumer.deal()(batch, {}).value(), ElementsAre(Dealing::kRefused, Dealing::kDone));
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

// Handling messages on the consumer's own thread, over a store in memory that can be taken away.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <functional>
#include <latch>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "base/manual_clock.h"
#include "message/consumer.h"
#include "message/failed_run.h"
#include "message/in_flight.h"
#include "message/key.h"
#include "store/limits.h"
#include "store/memory/memory_store.h"

namespace recourse::message {
namespace {

using namespace std::chrono_literals;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

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
    const std::optional<ErrorCode> refused = refuse ? refuse(batch) : std::nullopt;
    if (refused) return fail(*refused, "the store does not take these");
    return under_.mark(batch, within);
  }
  Result<std::size_t> forget(std::span<const store::MessageKey> keys, Duration within) override {
    return under_.forget(keys, within);
  }
  Result<std::size_t> sweep(std::size_t limit, Duration within) override {
    ++sweeps;
    return under_.sweep(limit, within);
  }

  bool is_down = false;
  bool refuses_marks = false;
  std::function<std::optional<ErrorCode>(std::span<const store::Dealt>)> refuse;
  int marks = 0;
  int sweeps = 0;

 private:
  store::Inbox& under_;
};

// Of whoever writes with the mark: it has no database, and lets the work do what it does.
class IdleGuest final : public store::Guest {
 public:
  Result<std::int64_t> execute(std::string_view, const SqlValues&) override { return 1; }
  Result<std::vector<SqlRow>> query(std::string_view, const SqlValues&) override {
    return std::vector<SqlRow>();
  }
  Result<store::InsertAnswer> submit(std::span<const store::Submission>) override {
    return fail(ErrorCode::kInvalid, "not here");
  }
  Result<> mark_created(const store::CreateHold&, std::string_view, store::Mark) override {
    return fail(ErrorCode::kInvalid, "not here");
  }
};

// Transactions that never commit.
class StubbornCreates final : public store::Creates {
  static Unexpected no() { return fail(ErrorCode::kUnavailable, "the store is away"); }

 public:
  Result<store::Acquired> acquire(const store::CreateAsk&, Duration) override { return no(); }
  Result<bool> succeed(const store::CreateHold&, std::string_view, Duration) override {
    return no();
  }
  Result<bool> give_up(const store::CreateHold&, std::string_view, Duration) override {
    return no();
  }
  Result<std::optional<store::Creation>> find(const store::CreateKey&, Duration) override {
    return no();
  }
  Result<std::size_t> sweep(std::size_t, Duration) override { return no(); }
  Result<> transact(Duration, FunctionRef<Result<>(store::Guest&)> work) override {
    if (is_down) return no();
    IdleGuest guest;
    if (Result<> worked = work(guest); !worked) return worked;
    return fail(ErrorCode::kInvalid, "violates a deferred constraint");
  }
  Result<store::Acquired> create(const store::CreateAsk&, Duration, store::CreateWork) override {
    return no();
  }
  Result<store::Acquired> create_alone(const store::CreateAsk&, Duration,
                                       store::CreateWork) override {
    return no();
  }
  Result<store::Acquired> create_within(store::Guest&, const store::CreateAsk&, Duration,
                                        store::CreateWork) override {
    return no();
  }

  bool is_down = false;
};

class ShakyStore final : public store::OpenedStore {
 public:
  explicit ShakyStore(const Clock& clock)
      : under_(store::memory::open(store::memory::make_data(), clock)), shaky(under_->inbox()) {}
  store::Store& store() override { return under_->store(); }
  store::Reader& reader() override { return under_->reader(); }
  store::Records& records() override { return under_->records(); }
  store::Cases& cases() override { return under_->cases(); }
  store::Creates& creates() override { return stubborn; }
  store::Inbox& inbox() override { return shaky; }

 private:
  std::unique_ptr<store::OpenedStore> under_;

 public:
  ShakyInbox shaky;
  StubbornCreates stubborn;
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

TEST(InFlight, TheOldestAreForgottenWhenThereAreTooMany) {
  InFlight in_flight;
  const auto key = [](std::size_t number) { return store::MessageKey(std::to_string(number)); };
  for (std::size_t i = 0; i < InFlight::kUnmarkedMax; ++i) in_flight.remember(key(i), {});
  in_flight.remember(key(0), {.business_id = "again"});

  in_flight.remember(key(InFlight::kUnmarkedMax), {});

  EXPECT_FALSE(in_flight.recall(key(1)));
  EXPECT_EQ(in_flight.recall(key(0))->business_id, "again");
  EXPECT_TRUE(in_flight.recall(key(2)));
  EXPECT_TRUE(in_flight.recall(key(InFlight::kUnmarkedMax)));
  EXPECT_FALSE(in_flight.recall(key(2)));
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

// The message door through the public headers alone, on every store.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <functional>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "recourse/json.h"
#include "recourse/messages.h"
#include "tests/degrade_fixture.h"
#include "tests/engine_fixture.h"

namespace recourse::tests {

struct BilledOrder {
  std::string id;
  int amount = 0;
};
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(BilledOrder, id, amount)

namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr const char* kBilling = "billing";

IncomingMessage order(const std::string& id, const std::string& key = "") {
  return {.topic = "orders",
          .tags = "paid",
          .key = key,
          .id = id,
          .body = R"({"id": "o-)" + id + R"(", "amount": 10})",
          .headers = {{"trace", "t-1"}}};
}

class MessagesOnStore : public ::testing::TestWithParam<const char*> {
 protected:
  MessagesOnStore()
      : place_(GetParam()),
        engine_(Engine::open({.store = place_.url(), .scan_period = 100ms, .log = log_.sink()})
                    .value()) {}

  // Short waits, so that a test sees all of a message's life.
  static GroupOptions quick() {
    GroupOptions options;
    options.base_delay = 5ms;
    options.breaker = false;
    return options;
  }
  Messages open(const GroupOptions& options = quick()) {
    Messages messages = Messages::on(engine_).value();
    messages.handle<BilledOrder>(
        kBilling,
        [this](const MessageContext& message, const BilledOrder& one) {
          ++runs_;
          if (during_) during_(message);
          return one.id;
        },
        options);
    engine_.start().value();
    return messages;
  }
  static bool reaches(Messages& messages, const std::string& id, MessageStatus status) {
    return eventually([&] { return messages.find(id).value().status == status; });
  }
  bool has_transactions() const { return std::string_view(GetParam()) != "Memory"; }

  LogBook log_;
  Place place_;
  Engine engine_;
  std::atomic<int> runs_ = 0;
  std::function<void(const MessageContext&)> during_;
};

// MSG-1
TEST_P(MessagesOnStore, AMessageIsHandledOnceAndSkippedWhenItComesAgain) {
  Messages messages = open();
  std::string key;
  during_ = [&](const MessageContext& message) {
    EXPECT_EQ(message.id(), "1");
    EXPECT_EQ(message.topic(), "orders");
    EXPECT_EQ(message.tags(), "paid");
    EXPECT_EQ(message.group(), kBilling);
    EXPECT_EQ(message.header("trace"), "t-1");
    EXPECT_EQ(message.attempt(), 1);
    key = message.idempotency_key();
  };

  const Consumed first = messages.consume(order("1"), kBilling).value();
  const Consumed again = messages.consume(order("1"), kBilling).value();

  EXPECT_EQ(first.fate, MessageFate::kProcessed);
  EXPECT_EQ(first.business_id, "o-1");
  EXPECT_EQ(again.fate, MessageFate::kSkipped);
  EXPECT_EQ(runs_, 1);
  EXPECT_FALSE(key.empty());
  EXPECT_THAT(messages.list().value().records, IsEmpty());
}

// MSG-1, MSG-2, MSG-3, MSG-5: a failure is on the record, and a retry makes it good.
TEST_P(MessagesOnStore, AFailureIsRecordedAndMadeGood) {
  GroupOptions options = quick();
  options.base_delay = 200ms;
  Messages messages = open(options);
  std::atomic<bool> is_down = true;
  std::string first_key;
  std::string last_key;
  during_ = [&](const MessageContext& message) {
    (message.attempt() == 1 ? first_key : last_key) = message.idempotency_key();
    if (is_down) {
      throw MessageFailure("stock service: connection refused",
                           {.type = "ConnectException",
                            .code = "STOCK_DOWN",
                            .business_id = "o-1",
                            .custom_data = R"({"user_id":"12345","order_amount":100.00})",
                            .stack_trace = "at Stock.reserve"});
    }
  };

  const Consumed consumed = messages.consume(order("1", "k-1"), kBilling).value();

  EXPECT_EQ(consumed.fate, MessageFate::kRecorded);
  EXPECT_EQ(consumed.status, MessageStatus::kRetrying);
  const MessageRecord record = messages.find(consumed.record).value();
  EXPECT_EQ(record.message_id, "1");
  EXPECT_EQ(record.business_id, "o-1");
  EXPECT_EQ(record.topic, "orders");
  EXPECT_EQ(record.tags, "paid");
  EXPECT_EQ(record.key, "k-1");
  EXPECT_EQ(record.group, kBilling);
  EXPECT_EQ(record.body, order("1").body);
  EXPECT_EQ(record.status, MessageStatus::kRetrying);
  EXPECT_EQ(record.error_code, "STOCK_DOWN");
  EXPECT_EQ(record.max_retries, 5);
  EXPECT_EQ(record.attempts, 1);
  EXPECT_TRUE(record.next_retry_at);
  EXPECT_EQ(messages.status("1").value(), MessageStatus::kRetrying);
  EXPECT_EQ(messages.status("unknown").value(), std::nullopt);
  is_down = false;
  ASSERT_TRUE(reaches(messages, consumed.record, MessageStatus::kProcessed));
  const auto history = messages.history(consumed.record).value();
  ASSERT_THAT(history, SizeIs(2));
  EXPECT_EQ(history[0].attempt, 1);
  EXPECT_EQ(history[0].exception_type, "ConnectException");
  EXPECT_EQ(history[0].error_code, "STOCK_DOWN");
  EXPECT_EQ(history[0].error_message, "stock service: connection refused");
  EXPECT_FALSE(history[0].consumer_ip.empty());
  EXPECT_THAT(history[0].stack_trace, HasSubstr("Stock.reserve"));
  EXPECT_EQ(history[0].retry_delay, Duration(200ms));
  EXPECT_EQ(history[0].result, "FAILED");
  EXPECT_THAT(history[0].custom_data, HasSubstr("100.00"));
  EXPECT_EQ(history[1].result, "SUCCESS");
  EXPECT_EQ(first_key, last_key);
  EXPECT_EQ(messages.consume(order("1"), kBilling).value().fate, MessageFate::kSkipped);
  EXPECT_EQ(runs_, 2);
}

// MSG-6, MSG-8, MSG-13: one run and five retries, each twice as late as the one before; then a
// person has to look.
TEST_P(MessagesOnStore, FiveRetriesAndThenAPersonHasToLook) {
  Messages messages = open();
  during_ = [](const MessageContext&) { throw std::runtime_error("read timeout"); };

  const std::string id = messages.consume(order("1"), kBilling).value().record;
  ASSERT_TRUE(reaches(messages, id, MessageStatus::kPending));

  EXPECT_EQ(runs_, 1 + 5);
  std::vector<Duration> delays;
  const std::vector<MessageAttempt> history = messages.history(id).value();
  for (const MessageAttempt& attempt : history) {
    if (attempt.retry_delay) delays.push_back(*attempt.retry_delay);
  }
  EXPECT_THAT(delays, ElementsAre(Duration(5ms), Duration(10ms), Duration(20ms), Duration(40ms),
                                  Duration(80ms)));
  const MessageRecord record = messages.find(id).value();
  EXPECT_EQ(record.retries_left, 0);
  EXPECT_THAT(record.error, HasSubstr("read timeout"));
  EXPECT_EQ(log_.count("message_consume_failed message=1"), 1);
  EXPECT_EQ(log_.count("message_retry_started message=1"), 5);
  EXPECT_TRUE(eventually([&] { return log_.count("message_gave_up message=1") == 1; }));
  EXPECT_EQ(messages.summary().value().pending, 1);
}

// MSG-4
TEST_P(MessagesOnStore, ABusinessErrorIsForAPersonAtOnce) {
  Messages messages = open();
  during_ = [](const MessageContext&) { throw std::runtime_error("balance is short"); };

  const Consumed consumed = messages.consume(order("1"), kBilling).value();

  EXPECT_EQ(consumed.fate, MessageFate::kRecorded);
  EXPECT_EQ(consumed.status, MessageStatus::kPending);
  EXPECT_EQ(messages.status("1", kBilling).value(), MessageStatus::kPending);
  EXPECT_EQ(runs_, 1);
}

TEST_P(MessagesOnStore, ABodyThatDoesNotDecodeIsForAPerson) {
  Messages messages = open();
  IncomingMessage bad = order("1");
  bad.body = "{ no JSON";

  const Consumed consumed = messages.consume(bad, kBilling).value();

  EXPECT_EQ(consumed.status, MessageStatus::kPending);
  EXPECT_EQ(messages.find(consumed.record).value().error_code, "SERDE_ERROR");
  EXPECT_EQ(runs_, 0);
}

// MSG-8: a person retries it, says that it was done, or that it does not matter.
TEST_P(MessagesOnStore, PeopleDecideOnWhatIsPending) {
  Messages messages = open();
  std::atomic<bool> is_bad = true;
  during_ = [&](const MessageContext&) {
    if (is_bad) throw std::runtime_error("no such customer");
  };
  const auto fail_one = [&](const std::string& id) {
    return messages.consume(order(id), kBilling).value().record;
  };
  const std::string retried = fail_one("1");
  const std::string seen_to = fail_one("2");
  const std::string ignored = fail_one("3");
  fail_one("4");
  const std::string many = fail_one("5");
  is_bad = false;

  ASSERT_TRUE(messages.retry(retried, "alice"));
  EXPECT_TRUE(reaches(messages, retried, MessageStatus::kProcessed));
  ASSERT_TRUE(messages.mark_processed(seen_to, "alice"));
  EXPECT_EQ(messages.find(seen_to)->status, MessageStatus::kProcessed);
  ASSERT_TRUE(messages.ignore(ignored, "alice"));
  EXPECT_EQ(messages.find(ignored)->status, MessageStatus::kIgnored);
  EXPECT_TRUE(messages.mark_processed_by_message_id("4", "alice").value());
  EXPECT_FALSE(messages.mark_processed_by_message_id("4", "alice").value());
  EXPECT_FALSE(messages.mark_processed_by_message_id("unknown", "alice").value());
  EXPECT_EQ(messages.retry(seen_to, "alice").error().code, ErrorCode::kConflict);
  EXPECT_EQ(messages.retry_all({}, 100, "alice").value().retried, 1U);
  EXPECT_TRUE(reaches(messages, many, MessageStatus::kProcessed));
  EXPECT_EQ(messages.summary().value().ignored, 1);
  // MSG-10
  EXPECT_EQ(messages.clean(0s, 24h, "alice").value(), 4U);
  EXPECT_THAT(messages.list().value().records, SizeIs(1));
}

TEST_P(MessagesOnStore, RecordsAreFoundByWhatPeopleKnow) {
  GroupOptions options = quick();
  options.base_delay = 1h;
  Messages messages = open(options);
  during_ = [](const MessageContext& message) {
    message.about("customer-" + message.key());
    throw std::runtime_error("timeout");
  };
  const std::string one = messages.consume(order("1", "a"), kBilling).value().record;
  const std::string two = messages.consume(order("2", "b"), kBilling).value().record;
  const auto found = [&](const MessageQuery& query) {
    std::vector<std::string> ids;
    const MessagePage page = messages.list(query).value();
    for (const MessageRecord& record : page.records) ids.push_back(record.id);
    return ids;
  };

  EXPECT_THAT(found({}), ElementsAre(two, one));
  EXPECT_THAT(found({.message_id = "1"}), ElementsAre(one));
  EXPECT_THAT(found({.business_id = "customer-b"}), ElementsAre(two));
  EXPECT_THAT(found({.topic = "orders"}), ElementsAre(two, one));
  EXPECT_THAT(found({.topic = "other"}), IsEmpty());
  EXPECT_THAT(found({.status = MessageStatus::kPending}), IsEmpty());
  EXPECT_THAT(found({.group = kBilling}), ElementsAre(two, one));
  EXPECT_FALSE(messages.list({.group = "unknown"}));
}

// MSG-7, I12: however often and by how many threads it is delivered, there is one record.
TEST_P(MessagesOnStore, AMessageThatComesManyTimesMakesOneRecord) {
  Messages messages = open();
  during_ = [](const MessageContext&) { throw std::runtime_error("no such customer"); };
  std::vector<std::jthread> crowd;
  std::atomic<int> recorded = 0;
  for (int i = 0; i < 8; ++i) {
    crowd.emplace_back([&] {
      for (int again = 0; again < 5; ++again) {
        const auto consumed = messages.consume(order("1"), kBilling);
        if (consumed && consumed->fate == MessageFate::kRecorded) ++recorded;
      }
    });
  }
  crowd.clear();

  EXPECT_EQ(recorded, 1);
  EXPECT_EQ(runs_, 1);
  EXPECT_THAT(messages.list().value().records, SizeIs(1));
}

TEST_P(MessagesOnStore, ABatchIsAnsweredOneByOne) {
  Messages messages = open();
  during_ = [](const MessageContext& message) {
    if (message.id() == "2") throw std::runtime_error("timeout");
  };

  const auto answers =
      messages.consume_all(std::vector{order("1"), order("2"), order("1"), order("3")}, kBilling);

  ASSERT_THAT(answers, SizeIs(4));
  EXPECT_EQ(answers[0]->fate, MessageFate::kProcessed);
  EXPECT_EQ(answers[1]->fate, MessageFate::kRecorded);
  EXPECT_EQ(answers[2]->fate, MessageFate::kSkipped);
  EXPECT_EQ(answers[3]->fate, MessageFate::kProcessed);
}

// Effect and mark commit together, in retries too.
TEST_P(MessagesOnStore, AHandlerMaySkipTheWindowByWritingIntoTheMarksTransaction) {
  if (!has_transactions()) GTEST_SKIP() << "a store in memory has no transactions of others";
  Create create(engine_);
  ASSERT_TRUE(create.transact(5s, [](CreateTransaction& own) -> Result<> {
    const auto made = own.execute("CREATE TABLE invoice (id VARCHAR(100) NOT NULL)");
    return made ? Result<>() : fail(made.error());
  }));
  Messages messages = Messages::on(engine_).value();
  messages.handle_in_transaction<BilledOrder>(
      kBilling,
      [this](CreateTransaction& own, const MessageContext& message,
             const BilledOrder& one) -> Result<std::string> {
        ++runs_;
        const auto written = own.execute("INSERT INTO invoice (id) VALUES (?)", {one.id});
        if (!written) return fail(written.error());
        if (during_) during_(message);
        return one.id;
      },
      quick());
  engine_.start().value();
  const auto invoices = [&] {
    std::size_t count = 0;
    (void)create.transact(5s, [&](CreateTransaction& own) -> Result<> {
      count = own.query("SELECT id FROM invoice")->size();
      return {};
    });
    return count;
  };
  std::atomic<int> failures = 2;
  during_ = [&](const MessageContext& message) {
    if (message.id() == "2" && failures-- > 0) throw std::runtime_error("connection lost");
  };

  EXPECT_EQ(messages.consume(order("1"), kBilling).value().fate, MessageFate::kProcessed);
  EXPECT_EQ(messages.consume(order("1"), kBilling).value().fate, MessageFate::kSkipped);
  EXPECT_EQ(invoices(), 1U);
  const Consumed second = messages.consume(order("2"), kBilling).value();
  EXPECT_EQ(second.fate, MessageFate::kRecorded);
  EXPECT_EQ(invoices(), 1U) << "what a failed handler wrote is rolled back";
  EXPECT_TRUE(reaches(messages, second.record, MessageStatus::kProcessed));
  EXPECT_EQ(invoices(), 2U);
}

// MSG-13: own classification, own delay, own retry action.
TEST_P(MessagesOnStore, ProgramsHaveRulesOfTheirOwn) {
  GroupOptions options = quick();
  std::atomic<int> actions = 0;
  options.classify = [](const MessageError& error) -> std::optional<MessageDecision> {
    if (error.message != "out of stock") return std::nullopt;
    return MessageDecision{.retry = true, .code = "OUT_OF_STOCK"};
  };
  options.delay = [](int retry) { return Duration(7ms) * retry; };
  options.retry_action = [&](const MessageContext& message) -> Result<std::string> {
    if (++actions < 3) return fail(ErrorCode::kUnavailable, "not yet");
    return message.id();
  };
  Messages messages = open(options);
  during_ = [](const MessageContext&) { throw std::runtime_error("out of stock"); };

  const Consumed consumed = messages.consume(order("1"), kBilling).value();

  ASSERT_EQ(consumed.status, MessageStatus::kRetrying);
  ASSERT_TRUE(reaches(messages, consumed.record, MessageStatus::kProcessed));
  EXPECT_EQ(runs_, 1);
  EXPECT_EQ(actions, 3);
  const auto history = messages.history(consumed.record).value();
  EXPECT_EQ(history[0].error_code, "OUT_OF_STOCK");
  EXPECT_EQ(history[0].retry_delay, Duration(7ms));
  EXPECT_EQ(history[1].retry_delay, Duration(14ms));
}

TEST_P(MessagesOnStore, MessagesOfOneKeyStayInOrderBehindOneThatFailed) {
  GroupOptions options = quick();
  options.ordered = true;
  Messages messages = open(options);
  std::atomic<int> failures = 2;
  std::mutex mutex;
  std::vector<std::string> done;
  during_ = [&](const MessageContext& message) {
    if (message.id() == "1" && failures-- > 0) throw std::runtime_error("timeout");
    const std::lock_guard lock(mutex);
    done.push_back(message.id());
  };

  const auto answers = messages.consume_all(
      std::vector{order("1", "a"), order("2", "a"), order("3", "b"), order("4", "a")}, kBilling);

  EXPECT_EQ(answers[1]->fate, MessageFate::kRecorded);
  EXPECT_EQ(answers[2]->fate, MessageFate::kProcessed);
  const auto ended = [&] {
    const std::lock_guard lock(mutex);
    return done.size() == 4;
  };
  ASSERT_TRUE(eventually(ended));
  EXPECT_THAT(done, ElementsAre("3", "1", "2", "4"));
}

TEST_P(MessagesOnStore, AnotherHandlerMayMakeTheFirstRun) {
  Messages messages = open();

  const auto consumed = messages.consume<BilledOrder>(
      order("1"), kBilling,
      [](const MessageContext&, const BilledOrder& one) { return "mine " + one.id; });

  EXPECT_EQ(consumed.value().business_id, "mine o-1");
  EXPECT_EQ(runs_, 0);
  EXPECT_EQ(messages.consume(order("2"), "unknown").error().code, ErrorCode::kInvalid);
}

INSTANTIATE_TEST_SUITE_P(Stores, MessagesOnStore,
                         ::testing::Values("Memory", "Sqlite", "Postgres", "Mariadb"),
                         [](const auto& store) { return std::string(store.param); });

// MSG-12: what could not be recorded is not acknowledged.
TEST(Messages, NothingIsConsumedBeforeTheEngineStarts) {
  Engine engine = Engine::open({.store = "memory:"}).value();
  Messages messages = Messages::on(engine).value();
  messages.handle_bytes(kBilling, [](const MessageContext&) { return std::string(); });

  EXPECT_EQ(messages.consume(order("1"), kBilling).error().code, ErrorCode::kUnavailable);
}

TEST(Messages, WhatIsWrongIsToldByStart) {
  const auto start = [](const std::function<void(Messages&)>& prepare) -> std::string {
    Engine engine = Engine::open({.store = "memory:"}).value();
    Messages messages = Messages::on(engine).value();
    prepare(messages);
    const Result<> started = engine.start();
    return started ? "started" : started.error().message;
  };
  const auto handle = [](const MessageContext&) { return std::string(); };

  EXPECT_THAT(start([&](Messages& messages) { messages.handle_bytes("*", handle); }),
              HasSubstr("must be a whole name"));
  EXPECT_THAT(start([&](Messages& messages) {
                messages.handle_bytes("a", handle).handle_bytes("a", handle);
              }),
              HasSubstr("was given twice"));
  EXPECT_THAT(
      start([&](Messages& messages) {
        messages.from({.name = "s", .url = "redis://localhost", .topic = "t", .group = "a"});
      }),
      HasSubstr("has no handler here"));
  EXPECT_THAT(start([&](Messages& messages) {
                messages.handle_bytes("a", handle);
                messages.from({.name = "s", .url = "http://localhost", .topic = "t", .group = "a"});
              }),
              HasSubstr("source \"s\""));
  EXPECT_THAT(start([&](Messages& messages) {
                messages.handle_bytes_in_transaction(
                    "a", [](CreateTransaction&, const MessageContext&) { return std::string(); });
              }),
              HasSubstr("memory"));
  EXPECT_THAT(start([&](Messages& messages) {
                GroupOptions options;
                options.replay_to_broker = true;
                messages.handle_bytes("a", handle, options);
              }),
              HasSubstr("give it a source"));
  EXPECT_THAT(start([&](Messages& messages) {
                GroupOptions options;
                options.max_retries = -1;
                messages.handle_bytes("a", handle, options);
              }),
              HasSubstr("max_retries"));
}

}  // namespace
}  // namespace recourse::tests

// A handler that shares the mark's transaction, when a COMMIT or the reply to it is lost.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <string>

#include "recourse/messages.h"
#include "tests/degrade_fixture.h"
#include "tests/engine_fixture.h"
#include "tests/store_faults_support.h"
#include "tests/support/lossy_proxy.h"

namespace recourse::tests {
namespace {

using ::testing::IsEmpty;
using Loss = LossyProxy::Loss;

constexpr const char* kInvoicing = "invoicing";

class MessagesLoseACommit : public ::testing::TestWithParam<ServerKind> {
 protected:
  MessagesLoseACommit() {
    run("CREATE TABLE invoice (id VARCHAR(100) NOT NULL)");
    GroupOptions options;
    options.base_delay = 50ms;
    options.breaker = false;
    messages_.handle_bytes_in_transaction(
        kInvoicing,
        [this](CreateTransaction& own, const MessageContext& message) -> Result<std::string> {
          ++runs_;
          const auto written = own.execute("INSERT INTO invoice (id) VALUES (?)", {message.id()});
          if (!written) return fail(written.error());
          if (runs_ == 1) proxy_.lose_next(loss_);
          return "invoice " + message.id();
        },
        options);
    engine_.start().value();
  }

  void run(const std::string& statement) {
    const Result<> ran = create_.transact(5s, [&](CreateTransaction& own) -> Result<> {
      const auto done = own.execute(statement);
      return done ? Result<>() : fail(done.error());
    });
    ASSERT_TRUE(ran) << ran.error().message;
  }
  std::size_t invoices() {
    std::size_t count = 0;
    (void)create_.transact(5s, [&](CreateTransaction& own) -> Result<> {
      count = own.query("SELECT id FROM invoice")->size();
      return {};
    });
    return count;
  }
  Result<Consumed> consume() {
    return messages_.consume({.topic = "orders", .id = "1", .body = "{}"}, kInvoicing);
  }

  ServerDatabase database_{GetParam()};
  // The engine commits too, at times of its own: it is the handler's that is meant.
  LossyProxy proxy_{GetParam(), database_.url(), "INSERT INTO invoice"};
  LogBook log_;
  Engine engine_ = Engine::open({.store = proxy_.url(), .log = log_.sink()}).value();
  Create create_{engine_};
  Messages messages_ = Messages::on(engine_).value();
  std::atomic<int> runs_ = 0;
  Loss loss_ = Loss::kReply;
};

TEST_P(MessagesLoseACommit, WhoseReplyIsMissingIsProcessedOnceAndNotRecorded) {
  const Consumed consumed = consume().value();

  ASSERT_TRUE(proxy_.has_lost());
  EXPECT_EQ(consumed.fate, MessageFate::kProcessed);
  EXPECT_EQ(consumed.business_id, "invoice 1");
  EXPECT_EQ(consume().value().fate, MessageFate::kSkipped);
  EXPECT_EQ(invoices(), 1U);
  EXPECT_EQ(runs_, 1);
  EXPECT_THAT(messages_.list().value().records, IsEmpty());
  EXPECT_EQ(log_.count("message_handled_twice"), 0);
}

TEST_P(MessagesLoseACommit, WhichTheServerNeverHeardOfIsRecordedAndRetried) {
  loss_ = Loss::kCommit;

  const Consumed consumed = consume().value();

  ASSERT_TRUE(proxy_.has_lost());
  ASSERT_EQ(consumed.fate, MessageFate::kRecorded);
  EXPECT_EQ(messages_.find(consumed.record).value().error_code, "STORE_COMMIT_FAILED");
  EXPECT_TRUE(eventually(
      [&] { return messages_.find(consumed.record).value().status == MessageStatus::kProcessed; }));
  EXPECT_EQ(invoices(), 1U);
  EXPECT_EQ(runs_, 2);
}

INSTANTIATE_TEST_SUITE_P(Servers, MessagesLoseACommit,
                         testing::Values(ServerKind::kPostgres, ServerKind::kMariadb), case_name);

}  // namespace
}  // namespace recourse::tests

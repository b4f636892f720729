#include "message/failed_run.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <stdexcept>
#include <string>
#include <system_error>

namespace recourse::message {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;

template <class E>
policy::Failure thrown(E error) {
  return policy::Thrown{std::make_exception_ptr(std::move(error))};
}

policy::Decision decide(const policy::Failure& failure) {
  return router_of(nullptr).decide(failure);
}

bool is_retried(const policy::Failure& failure) {
  return decide(failure).outcome == policy::Outcome::kRetry;
}

// MSG-4
TEST(MessageRouter, ConnectionsAndTimeOutsAreRetriedAndTheRestIsForAPerson) {
  EXPECT_TRUE(is_retried(thrown(std::runtime_error("Connection reset by peer"))));
  EXPECT_TRUE(is_retried(thrown(std::runtime_error("read TIMEOUT after 3000 ms"))));
  EXPECT_TRUE(is_retried(thrown(std::runtime_error("network is unreachable"))));
  EXPECT_TRUE(
      is_retried(thrown(std::system_error(std::make_error_code(std::errc::host_unreachable)))));
  EXPECT_TRUE(is_retried(policy::TimedOut{10s}));
  EXPECT_FALSE(is_retried(thrown(std::runtime_error("balance is short"))));
  EXPECT_FALSE(is_retried(thrown(std::logic_error("no such order"))));
  EXPECT_FALSE(is_retried(thrown(42)));
}

// MSG-4: SQL states of class 08.
TEST(MessageRouter, ALostDatabaseConnectionIsRetriedAndWrongSqlIsNot) {
  const auto lost = decide(thrown(MessageFailure("server went away", {.sql_state = "08006"})));
  EXPECT_EQ(lost.outcome, policy::Outcome::kRetry);
  EXPECT_EQ(lost.message, "server went away");
  EXPECT_FALSE(is_retried(thrown(MessageFailure("syntax error", {.sql_state = "42601"}))));
}

TEST(MessageRouter, AFailureSaysItselfWhetherItIsWorthARetry) {
  const auto again = decide(thrown(MessageFailure("stock is locked", {.retryable = true})));
  EXPECT_EQ(again.outcome, policy::Outcome::kRetry);
  EXPECT_EQ(again.code, "MESSAGE_FAILURE");
  const auto never = decide(thrown(MessageFailure("connection of the customer is bad",
                                                  {.code = "NO_CREDIT", .retryable = false})));
  EXPECT_EQ(never.outcome, policy::Outcome::kDeadLetter);
  EXPECT_EQ(never.code, "NO_CREDIT");
}

TEST(MessageRouter, AFailureKeepsItsCodeWhateverRuleItsTextMatches) {
  const auto decision =
      decide(thrown(MessageFailure("connection lost", {.code = "CONNECTION_TIMEOUT"})));
  EXPECT_EQ(decision.outcome, policy::Outcome::kRetry);
  EXPECT_EQ(decision.code, "CONNECTION_TIMEOUT");
  EXPECT_EQ(decision.message, "connection lost");
}

// MSG-13: a program's own rules come first, and see what was thrown.
TEST(MessageRouter, OwnRulesComeFirst) {
  struct OutOfStock : std::runtime_error {
    using std::runtime_error::runtime_error;
  };
  MessageError seen;
  const policy::FailureRouter router =
      router_of([&](const MessageError& error) -> std::optional<MessageDecision> {
        seen = error;
        if (error.message.find("stock") == std::string::npos) return std::nullopt;
        return MessageDecision{.retry = true, .code = "OUT_OF_STOCK", .after = 5s};
      });

  const policy::Decision again = router.decide(thrown(OutOfStock("no stock")));
  EXPECT_EQ(again.outcome, policy::Outcome::kRetry);
  EXPECT_EQ(again.code, "OUT_OF_STOCK");
  EXPECT_EQ(again.retry_after, 5s);
  EXPECT_THAT(seen.exception_type, HasSubstr("OutOfStock"));
  EXPECT_THROW(std::rethrow_exception(seen.thrown), OutOfStock);
  EXPECT_EQ(router.decide(thrown(std::runtime_error("else"))).code, "UNMATCHED");
}

TEST(MessageRouter, ABodyThatDoesNotDecodeIsForAPersonWhateverOwnRulesSay) {
  const policy::FailureRouter router = router_of(
      [](const MessageError&) -> std::optional<MessageDecision> { return MessageDecision{}; });
  const policy::Decision decision =
      router.decide(thrown(MessageFailure("no JSON", {.code = std::string(kUndecodable)})));
  EXPECT_EQ(decision.outcome, policy::Outcome::kDeadLetter);
  EXPECT_EQ(decision.code, "SERDE_ERROR");
  EXPECT_FALSE(policy::blames_downstream(decision));
}

// MSG-5
TEST(FailedRun, KeepsWhatTheHistoryTells) {
  const FailedRun failed = failed_run(
      std::make_exception_ptr(MessageFailure("short", {.type = "BusinessException",
                                                       .business_id = "o-7",
                                                       .custom_data = R"({"user_id": "12345"})",
                                                       .stack_trace = "at main"})),
      "said before");
  EXPECT_EQ(failed.detail.exception_type, "BusinessException");
  EXPECT_EQ(failed.detail.custom_data, R"({"user_id": "12345"})");
  EXPECT_EQ(failed.detail.stack_trace, "at main");
  EXPECT_FALSE(failed.detail.consumer_ip.empty());
  EXPECT_EQ(failed.business_id, "o-7");
  EXPECT_EQ(failed_run(std::make_exception_ptr(std::runtime_error("x")), "o-8").business_id, "o-8");
}

}  // namespace
}  // namespace recourse::message

// MSG-4, MSG-9: what a consumer's report means.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/message_bodies.h"

namespace recourse::api {
namespace {

ReportedFailure failed_with(std::string type, std::string code, std::string message) {
  ReportedFailure failure;
  failure.detail.exception_type = std::move(type);
  failure.error_code = std::move(code);
  failure.error_message = std::move(message);
  return failure;
}

TEST(MessageReports, ConnectionsAndTimeOutsAreRetried) {
  for (const auto& failure :
       {failed_with("java.net.ConnectException", "", "refused"),
        failed_with("java.net.SocketTimeoutException", "", "Read"),
        failed_with("java.sql.SQLException", "08001", "the server went away"),
        failed_with("java.lang.RuntimeException", "", "Connection reset by peer"),
        failed_with("", "NETWORK_DOWN", ""), failed_with("", "", "it timed out after 3000 ms")}) {
    EXPECT_EQ(decide(failure).outcome, policy::Outcome::kRetry)
        << failure.detail.exception_type << failure.error_message;
  }
}

TEST(MessageReports, BusinessErrorsAndTheRestAreForAPerson) {
  for (const auto& failure :
       {failed_with("com.shop.BusinessException", "", "connection to the bank refused the order"),
        failed_with("java.lang.NullPointerException", "", "null"),
        failed_with("java.sql.SQLException", "23505", "duplicate key"),
        failed_with("", "INSUFFICIENT_BALANCE", "too little money")}) {
    EXPECT_EQ(decide(failure).outcome, policy::Outcome::kDeadLetter)
        << failure.detail.exception_type << failure.error_message;
  }
}

TEST(MessageReports, TheConsumersOwnWordComesFirst) {
  ReportedFailure failure = failed_with("com.shop.BusinessException", "LATER", "try again");
  failure.retryable = true;
  EXPECT_EQ(decide(failure).outcome, policy::Outcome::kRetry);
  failure = failed_with("", "", "connection reset");
  failure.retryable = false;
  EXPECT_EQ(decide(failure).outcome, policy::Outcome::kDeadLetter);
}

TEST(MessageReports, ItsWordsAreKept) {
  const policy::Decision decision =
      decide(failed_with("java.lang.NullPointerException", "NPE\n7", "what\xFF happened"));
  EXPECT_EQ(decision.code, "NPE 7");
  EXPECT_EQ(decision.message, "what\xEF\xBF\xBD happened");
  EXPECT_EQ(decide(failed_with("IOException", "", "")).message, "IOException");
}

// One tenant neither sees nor takes another one's marks.
TEST(MessageReports, MarksOfATenantAreItsOwn) {
  MessageName name{
      .source = "s", .group = "g", .topic = "t", .id = "1", .tenant = task::Tenant("a")};
  const store::MessageKey one = key_of(name);
  name.tenant = task::Tenant("b");
  EXPECT_NE(key_of(name), one);
  name.tenant = {};
  EXPECT_NE(key_of(name), one);
}

}  // namespace
}  // namespace recourse::api

#include "cli/message_rows.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

#include "cli/display_text.h"

namespace recourse::cli {
namespace {

using testing::HasSubstr;
using testing::Not;

const Colors kUncoloured(false);
constexpr TimePoint kToday{std::chrono::sys_days{std::chrono::year{2026} / 5 / 1}};

boost::json::object message(const char* status = "PENDING") {
  return {{"id", "tsk_01J8ZC3V7Q4T9W2X5Y6Z7A8B9C"},
          {"kind", "bill-order"},
          {"status", status},
          {"state", "dead"},
          {"message_id", "7F0000010A2C18B4AAC2"},
          {"source", "orders"},
          {"topic", "orders-of-the-shop"},
          {"group", "billing"},
          {"business_id", "order-4711"},
          {"created_at", "2026-04-10T00:00:00Z"},
          {"error_code", "IO_ERROR"},
          {"error", "the bank did not answer within ten seconds"},
          {"retries_left", 0},
          {"max_retries", 5},
          {"attempts", 6},
          {"body", "{\"order\": 4711}"}};
}

void expect_narrow(const std::string& text) {
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) EXPECT_LE(width_of(line), 80U) << line;
}

TEST(MessageTable, FitsAnOrdinaryTerminal) {
  const boost::json::array records{message("PROCESSED"), message()};
  expect_narrow(message_table(records, kToday).render(80, kUncoloured));
  const std::string whole = message_table(records, kToday).render(std::nullopt, kUncoloured);
  for (const char* part : {"7F0000010A2C18B4AAC2", "orders-of-the-shop", "billing", "order-4711",
                           "0/5", "IO_ERROR: the bank did not answer"}) {
    EXPECT_THAT(whole, HasSubstr(part)) << "elsewhere nothing is cut";
  }
}

// To be copied from a terminal: what has no room leaves instead.
TEST(MessageTable, NeverCutsAnId) {
  for (const char* id : {"7F0000010A2C18B4AAC2", "0f8fad5b-d9cd-469f-a165-70867728950e",
                         "7F00000100002A9F000000000001C3E27F0000010A2C18B4AAC2"}) {
    boost::json::object one = message();
    one["message_id"] = id;
    const std::string table = message_table({one}, kToday).render(80, kUncoloured);

    EXPECT_THAT(table, HasSubstr("tsk_01J8ZC3V7Q4T9W2X5Y6Z7A8B9C  PENDING  " + std::string(id)));
    if (std::string_view(id).size() <= 36) expect_narrow(table);
  }
}

TEST(MessageTable, TellsTheErrorForAsLongAsThereIsRoom) {
  EXPECT_THAT(message_table({message()}, kToday).render(80, kUncoloured), HasSubstr("IO_ERROR: "));
}

TEST(MessagePage, TellsWhenItIsRetriedNextOrWhyNot) {
  const auto page_of = [](const char* status, const char* state, const char* at) {
    boost::json::object one = message(status);
    one["state"] = state;
    if (at != nullptr) one["next_retry_at"] = at;
    return message_page(one, kToday, kUncoloured);
  };

  EXPECT_THAT(page_of("RETRYING", "pending", "2026-05-01T00:00:04Z"),
              HasSubstr("next retry   2026-05-01T00:00:04Z  (in 4s)"));
  EXPECT_THAT(page_of("RETRYING", "running", "2026-05-01T00:00:04Z"),
              HasSubstr("next retry   2026-05-01T00:00:04Z  (in 4s)"))
      << "a node has it, and waits for its time";
  EXPECT_THAT(page_of("RETRYING", "running", "2026-04-30T23:59:59Z"),
              HasSubstr("next retry   runs now"));
  EXPECT_THAT(page_of("RETRYING", "running", nullptr), HasSubstr("next retry   runs now"));
  EXPECT_THAT(page_of("RETRYING", "paused", nullptr), HasSubstr("next retry   none while"));
  EXPECT_THAT(page_of("PENDING", "dead", nullptr), HasSubstr("next retry   none: it waits"));
  EXPECT_THAT(page_of("PROCESSED", "succeeded", nullptr), Not(HasSubstr("next retry")));
}

TEST(MessageTable, WhatIsProcessedHasNoLastError) {
  EXPECT_THAT(message_table({message("PROCESSED")}, kToday).render({}, kUncoloured),
              Not(HasSubstr("the bank")));
  const std::string page = message_page(message("PROCESSED"), kToday, kUncoloured);
  EXPECT_THAT(page, HasSubstr("error before IO_ERROR"));
  EXPECT_THAT(page, HasSubstr("body         {\"order\": 4711}"));
}

TEST(MessageAttempts, FitAndTellOfEachFailure) {
  const boost::json::array attempts{
      {{"attempt", 1},
       {"operation_time", "2026-04-10T00:00:00Z"},
       {"result", "FAILED"},
       {"error_code", "IO_ERROR"},
       {"exception_type", "java.net.SocketTimeoutException"},
       {"consumer_ip", "192.168.1.100"},
       {"retry_delay", 1000},
       {"error_message", "the bank did not answer within ten seconds, nor within twenty"}}};
  expect_narrow(message_attempts(attempts, kToday).render(80, kUncoloured));
  EXPECT_THAT(message_attempts(attempts, kToday).render({}, kUncoloured), HasSubstr("1000 ms"));
}

TEST(MessageSummary, FitsAndTellsTheRates) {
  const boost::json::object summary{{"counts", {{"PENDING", 1}}},
                                    {"success_rate", 0.985},
                                    {"average_retries", 0.25},
                                    {"newest_pending", boost::json::array{message()}}};
  const std::string page = message_summary_page(summary, kToday, 80, kUncoloured);
  expect_narrow(page);
  EXPECT_THAT(page, HasSubstr("success rate     98.5 %"));
  EXPECT_THAT(page, HasSubstr("average retries  0.25"));
}

TEST(SourceTable, FitsAndShowsTrouble) {
  Table table = empty_source_table();
  add_source_row({{"name", "orders"},
                  {"broker", "RabbitMQ"},
                  {"topic", "orders-of-the-shop"},
                  {"group", "billing"},
                  {"kind", "bill-order"},
                  {"connected", false},
                  {"received", 12'345'678},
                  {"refused", 0},
                  {"trouble", "no connection to mq.example.com:5672: Connection refused"}},
                 table);
  expect_narrow(table.render(80, kUncoloured));
  EXPECT_THAT(table.render({}, kUncoloured), HasSubstr("away"));
  EXPECT_THAT(table.render({}, kUncoloured), HasSubstr("Connection refused"));
}

}  // namespace
}  // namespace recourse::cli

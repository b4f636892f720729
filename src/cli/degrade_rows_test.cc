#include "cli/degrade_rows.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

#include "cli/display_text.h"

namespace recourse::cli {
namespace {

using testing::HasSubstr;
using testing::Not;

const Colors kPlain(false);
constexpr TimePoint kNow{std::chrono::sys_days{std::chrono::year{2026} / 5 / 1}};

boost::json::object record(const char* status = "FAILED") {
  return {{"id", "tsk_01J8ZC3V7Q4T9W2X5Y6Z7A8B9C"},
          {"kind", "grant-points"},
          {"status", status},
          {"state", "dead"},
          {"member", "member-4711"},
          {"related_id", "order-4711"},
          {"type", "EARN_ORDER"},
          {"failed_at", "2026-04-10T00:00:00Z"},
          {"failure_reason", "points service is down"},
          {"retries", 3},
          {"max_retries", 3},
          {"last_error", "gave up after 3 retries; last error: points service is down"}};
}

TEST(FailureTable, FitsAnOrdinaryTerminal) {
  const boost::json::array records{record("COMPLETED"), record()};
  std::istringstream lines(failure_table(records, kNow).render(80, kPlain));

  int count = 0;
  for (std::string line; std::getline(lines, line); ++count) {
    EXPECT_LE(width_of(line), 80U) << line;
  }

  EXPECT_EQ(count, 3);
  const std::string whole = failure_table(records, kNow).render(std::nullopt, kPlain);
  for (const char* part : {"member-4711", "order-4711", "EARN_ORDER", "3/3", "gave up after 3"}) {
    EXPECT_THAT(whole, HasSubstr(part)) << "elsewhere nothing is cut";
  }
}

TEST(FailureTable, NeverCutsAnId) {
  boost::json::object one = record();
  one["member"] = "member-0f8fad5b-d9cd-469f-a165-70867728950e";
  one["related_id"] = "order-1";

  const std::string table = failure_table({one}, kNow).render(140, kPlain);
  EXPECT_THAT(table, HasSubstr("member-0f8fad5b-d9cd-469f-a165-70867728950e"));
  EXPECT_THAT(failure_table({one}, kNow).render(80, kPlain), Not(HasSubstr("member-")))
      << "it leaves rather than be cut";
}

TEST(FailureTable, WhatIsMadeGoodHasNoLastError) {
  const std::string table = failure_table({record("COMPLETED")}, kNow).render({}, kPlain);
  const std::string page = failure_page(record("COMPLETED"), kNow, kPlain);

  EXPECT_THAT(table, Not(HasSubstr("gave up")));
  EXPECT_THAT(page, HasSubstr("error before gave up"));
  EXPECT_THAT(page, Not(HasSubstr("last error   ")));
}

TEST(FailureSummary, FitsAndTellsOfTheSpool) {
  const boost::json::object summary{{"counts", {{"FAILED", 1}}},
                                    {"newest_failed", boost::json::array{record()}},
                                    {"spooled_bytes", 0}};
  const std::string page = summary_page(summary, kNow, 80, kPlain);

  EXPECT_THAT(page, HasSubstr("spool      0 bytes wait for the store"));
  std::istringstream lines(page);
  for (std::string line; std::getline(lines, line);) EXPECT_LE(width_of(line), 80U) << line;
}

}  // namespace
}  // namespace recourse::cli

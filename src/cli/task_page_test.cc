#include "cli/task_page.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/rfc3339.h"

namespace recourse::cli {
namespace {

using testing::HasSubstr;
using testing::Not;

TaskFacts facts_from(std::string_view task, std::string_view attempts) {
  return {.task = boost::json::parse(task).as_object(),
          .attempts = boost::json::parse(attempts).as_array()};
}

std::string page_of(const TaskFacts& facts) {
  return task_page(facts, parse_rfc3339("now", "2026-11-16T10:00:10Z").value(), std::nullopt,
                   Colors(false));
}

TEST(TaskPage, ShowsWhatHappenedInOrder) {
  const std::string page = page_of(facts_from(
      R"({"id":"tsk_1","kind":"mail","state":"dead","attempts":2,"retries":1,"max_retries":1,
          "created_at":"2026-11-16T10:00:00Z","ended_at":"2026-11-16T10:00:05Z",
          "search_keys":{"order":"7"},"last_error":{"code":"http_500","message":"no"},
          "payload":"{}"})",
      R"([{"number":1,"started_at":"2026-11-16T10:00:01Z","ended_at":"2026-11-16T10:00:02Z",
           "decision":"retry","error":{"code":"timeout","message":"slow"}}])"));
  EXPECT_THAT(page, HasSubstr("tsk_1  mail  dead\n"));
  EXPECT_THAT(page, HasSubstr("2 (1 of 1 retries used)"));
  EXPECT_THAT(page, HasSubstr("2026-11-16T10:00:05Z  (5s ago)"));
  EXPECT_THAT(page, HasSubstr("order=7"));
  EXPECT_THAT(page, HasSubstr("http_500: no"));
  EXPECT_THAT(page, HasSubstr("timeout: slow"));
}

TEST(TaskPage, LeavesOutWhatThereIsNot) {
  const std::string page =
      page_of(facts_from(R"({"id":"tsk_1","kind":"mail","state":"pending"})", "[]"));
  EXPECT_THAT(page, Not(HasSubstr("ATTEMPT")));
  EXPECT_THAT(page, Not(HasSubstr("deadline")));
}

TEST(TaskPage, LetsNoPayloadMoveTheCursor) {
  const std::string page = page_of(
      facts_from(R"({"id":"tsk_1","kind":"a\u001b[1m","payload":"x\u001b[2J\u0007y"})", "[]"));
  EXPECT_THAT(page, Not(HasSubstr("\x1b")));
  EXPECT_THAT(page, Not(HasSubstr("\x07")));
}

TEST(TaskPage, SurvivesAnswersOfAnotherShape) {
  EXPECT_THAT(page_of(facts_from(R"({"id":7,"state":null,"search_keys":[1],"attempts":"x"})",
                                 R"([1,"a",{"number":"x","error":7}])")),
              HasSubstr("retries used"));
}

}  // namespace
}  // namespace recourse::cli

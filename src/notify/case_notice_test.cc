#include "notify/case_notice.h"

#include <gtest/gtest.h>

namespace recourse::notify {
namespace {

TEST(CaseNotice, SaysWhetherRetriesRanOut) {
  store::DueCase due;
  due.task.state = task::State::kDead;
  due.task.spec.max_retries = 3;
  due.task.retries = 2;
  EXPECT_EQ(notice_of(due, {}).event, Event::kDeadLetter);
  due.task.retries = 3;
  due.task.last_error = task::Reason{"HTTP_422", "no such order"};
  EXPECT_EQ(notice_of(due, {}).event, Event::kDeadLetter) << "not for want of retries";
  due.task.last_error = task::Reason{"TIMEOUT", "gave up after 3 retries; last error: no answer"};
  EXPECT_EQ(notice_of(due, {}).event, Event::kMaxRetryReached);
  due.task.state = task::State::kFailed;
  EXPECT_EQ(notice_of(due, {}).event, Event::kNonRetryableFailed);
}

// Under other names callers may keep anything, a card's number too.
TEST(CaseNotice, TheIdOfAMessageIsOneAndNothingElseIs) {
  store::DueCase due;
  due.task.state = task::State::kDead;
  due.task.spec.search_keys = {{"message_id", "4111111111111111"}, {"pan", "4111111111111111"}};
  due.task.spec.shard_key = task::ShardKey("7");
  due.held.assignee = "joe";

  const Notice notice = notice_of(due, {});

  EXPECT_EQ(notice.attributes.at("key message_id"), "4111111111111111");
  EXPECT_EQ(notice.ids, (std::set<std::string>{"key message_id"}));
}

}  // namespace
}  // namespace recourse::notify

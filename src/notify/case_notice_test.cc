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

}  // namespace
}  // namespace recourse::notify

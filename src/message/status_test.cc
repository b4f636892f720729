#include "message/status.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

namespace recourse::message {
namespace {

// MSG-3: the numbers are others' to rely on.
TEST(MessageStatus, HasTheNumbersAndWordsThatConsumersKnow) {
  EXPECT_EQ(number_of(Status::kRetrying), 0);
  EXPECT_EQ(number_of(Status::kPending), 1);
  EXPECT_EQ(number_of(Status::kProcessed), 2);
  EXPECT_EQ(number_of(Status::kIgnored), 3);
  for (const Status status : kAllStatuses) {
    EXPECT_EQ(parse_status(to_string(status)), status);
    EXPECT_EQ(parse_status(std::to_string(number_of(status))), status);
  }
  EXPECT_EQ(parse_status("4"), std::nullopt);
  EXPECT_EQ(parse_status("retrying"), std::nullopt);
}

// Four words over all states: none is in two of them, none in no one.
TEST(MessageStatus, EveryStateHasOne) {
  for (const task::State state : task::kAllStates) {
    int in = 0;
    for (const Status status : kAllStatuses) {
      in += static_cast<int>(std::ranges::count(states_of(status), state));
    }
    EXPECT_EQ(in, 1) << to_string(state);
  }
}

// What is PENDING waits for a person; what is PROCESSED or IGNORED is never touched again.
TEST(MessageStatus, SaysWhoHasToAct) {
  for (const task::State state : task::kAllStates) {
    const Status status = status_of(state);
    EXPECT_EQ(status == Status::kPending, task::needs_person(state)) << to_string(state);
    EXPECT_EQ(status == Status::kProcessed || status == Status::kIgnored, task::is_finished(state))
        << to_string(state);
  }
}

// MSG-9: of several groups the one that needs attention most.
TEST(MessageStatus, AttentionIsAnOrder) {
  EXPECT_GT(attention(Status::kPending), attention(Status::kRetrying));
  EXPECT_GT(attention(Status::kRetrying), attention(Status::kIgnored));
  EXPECT_GT(attention(Status::kIgnored), attention(Status::kProcessed));
}

}  // namespace
}  // namespace recourse::message

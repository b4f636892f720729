#include "degrade/status.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace recourse::degrade {
namespace {

TEST(Status, EveryNameParsesBack) {
  for (const Status status : kAllStatuses) EXPECT_EQ(parse_status(to_string(status)), status);
  EXPECT_EQ(parse_status("pending"), std::nullopt);
}

// DEGR-2: three words over all states: none is in two of them, none in no one.
TEST(Status, EveryStateHasOne) {
  for (const task::State state : task::kAllStates) {
    int in = 0;
    for (const Status status : kAllStatuses) {
      in += static_cast<int>(std::ranges::count(states_of(status), state));
    }
    EXPECT_EQ(in, 1) << to_string(state);
  }
}

// What is FAILED waits for a person, what is COMPLETED is never touched again.
TEST(Status, SaysWhoHasToAct) {
  for (const task::State state : task::kAllStates) {
    EXPECT_EQ(status_of(state) == Status::kFailed, task::needs_person(state)) << to_string(state);
    EXPECT_EQ(status_of(state) == Status::kCompleted, task::is_finished(state)) << to_string(state);
  }
}

}  // namespace
}  // namespace recourse::degrade

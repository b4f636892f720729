#include "task/follow_up.h"

#include <gtest/gtest.h>

#include <set>

#include "base/ulid.h"

namespace recourse::task {
namespace {

using namespace std::chrono_literals;

TEST(FollowUpId, IsOfItsParentsTimeAndUnlikeAnyOther) {
  UlidSequence sequence(7);
  std::set<TaskId> seen;
  for (int i = 0; i < 200; ++i) {
    const TaskId parent(sequence.next(TimePoint(1'700'000'000s)));
    seen.insert(parent);
    for (std::uint32_t index = 0; index < 100; ++index) {
      const TaskId id = follow_up_id(parent, 1, index);
      EXPECT_EQ(created_at(id.value), created_at(parent.value));
      EXPECT_EQ(id, follow_up_id(parent, 1, index));
      seen.insert(id);
      seen.insert(follow_up_id(id, 1, index));
      EXPECT_NE(id, follow_up_id(parent, 2, index));
    }
  }

  EXPECT_EQ(seen.size(), 200U * 201U);
}

// They stand in databases: a program of tomorrow must find what this one made.
TEST(FollowUpId, StaysWhatItIs) {
  const TaskId parent = parse_task_id("id", "tsk_01J0000000000000000000000A").value();

  EXPECT_EQ(to_string(follow_up_id(parent, 1, 0)), "tsk_01J0000000J05BZCYWD7JRZFTD");
}

}  // namespace
}  // namespace recourse::task

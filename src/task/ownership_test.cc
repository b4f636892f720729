#include "task/ownership.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "task/new_id.h"

namespace recourse::task {
namespace {

LeaseId lease(std::uint8_t last_byte) {
  Ulid id;
  id.bytes.back() = last_byte;
  return LeaseId(id);
}

TEST(Ownership, TheHolderOfTheTicketMayWrite) {
  EXPECT_EQ(judge_write({Fence(7), lease(1)}, {Fence(7), lease(1)}), WriteVerdict::kApply);
}

TEST(Ownership, TheSameWriteAgainIsRecognised) {
  EXPECT_EQ(judge_write({Fence(8), lease(1)}, {Fence(7), lease(1)}), WriteVerdict::kAlreadyApplied);
}

TEST(Ownership, ASuccessorsTaskIsRefused) {
  EXPECT_EQ(judge_write({Fence(8), lease(2)}, {Fence(7), lease(1)}), WriteVerdict::kRefused);
}

TEST(Ownership, AFenceThatARestoreMadeRepeatIsRefusedByTheLeaseId) {
  EXPECT_EQ(judge_write({Fence(7), lease(2)}, {Fence(7), lease(1)}), WriteVerdict::kRefused);
}

RC_GTEST_PROP(Ownership, AnOlderOrFutureFenceNeverWrites, ()) {
  const auto row = *rc::gen::inRange<std::int64_t>(0, 100);
  const auto shown = *rc::gen::inRange<std::int64_t>(0, 100);

  const WriteVerdict verdict = judge_write({Fence(row), lease(1)}, {Fence(shown), lease(1)});

  RC_ASSERT((verdict == WriteVerdict::kApply) == (row == shown));
  RC_ASSERT((verdict == WriteVerdict::kAlreadyApplied) == (row == shown + 1));
}

TEST(TaskId, IsSpelledWithItsPrefixAndReadBack) {
  const TaskId id = parse_task_id("task", "tsk_01ARZ3NDEKTSV4RRFFQ69G5FAV").value();

  EXPECT_EQ(to_string(id), "tsk_01ARZ3NDEKTSV4RRFFQ69G5FAV");
  const TimePoint made = created_at(id.value);
  EXPECT_TRUE(parse_new_task_id("task", "tsk_01ARZ3NDEKTSV4RRFFQ69G5FAV", made - kIdAheadMax));
  EXPECT_THAT(parse_new_task_id("task", "tsk_7ZZZZZZZZZZZZZZZZZZZZZZZZZ", made).error().message,
              testing::HasSubstr("a day ahead of the clock"));
  EXPECT_THAT(parse_task_id("task", "ord_01ARZ3NDEKTSV4RRFFQ69G5FAV").error().message,
              testing::HasSubstr("tsk belongs here"));
}

}  // namespace
}  // namespace recourse::task

#include "task/record.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace recourse::task {
namespace {

using std::chrono_literals::operator""s;
using testing::HasSubstr;

TaskSpec valid_spec() {
  TaskSpec spec;
  spec.kind = Kind("grant-points");
  return spec;
}

std::string complaint(const TaskSpec& spec) {
  const Result<> result = validate(spec);
  return result ? "" : result.error().message;
}

TEST(TaskSpec, TheDefaultsWithAKindAreValid) { EXPECT_EQ(complaint(valid_spec()), ""); }

TEST(TaskSpec, AnythingBeyondItsBoundIsRefusedByName) {
  TaskSpec spec = valid_spec();
  spec.kind = Kind("");
  spec.priority = 11;
  spec.payload.assign(kPayloadBytesMax + 1, 'x');
  spec.max_retries = -1;
  spec.timeout = -1s;

  const std::string message = complaint(spec);

  EXPECT_THAT(message, HasSubstr("task.kind (bytes) must be between 1 and 100, not 0"));
  EXPECT_THAT(message, HasSubstr("task.priority must be between 0 and 10, not 11"));
  EXPECT_THAT(message, HasSubstr("task.payload (bytes) must be between 0 and 262144, not 262145"));
  EXPECT_THAT(message, HasSubstr("task.max_retries must be between 0 and 1000, not -1"));
  EXPECT_THAT(message, HasSubstr("task.timeout must be between 1ms and 1d, not -1s"));
}

TEST(TaskSpec, KeysAndHeadersAreBounded) {
  TaskSpec spec = valid_spec();
  spec.search_keys = {{"member", std::string(kKeyBytesMax + 1, 'm')}};
  EXPECT_THAT(complaint(spec),
              HasSubstr("task.search_keys must have a name and at most 255 bytes"));

  spec = valid_spec();
  spec.headers = {{"h", std::string(kHeaderBytesMax, 'v')}};
  EXPECT_THAT(complaint(spec), HasSubstr("task.headers (bytes)"));
}

TEST(Task, IsAvailableOnlyWhenNobodyHasIt) {
  Task task;
  task.due_at = TimePoint(5s);
  EXPECT_EQ(available_at(task), TimePoint(5s));

  task.state = State::kRunning;
  EXPECT_EQ(available_at(task), kNever);
  task.lease_end = TimePoint(30s);
  EXPECT_EQ(available_at(task), TimePoint(30s));

  for (const State state : {State::kPaused, State::kDead, State::kFailed, State::kSucceeded}) {
    task.state = state;
    EXPECT_EQ(available_at(task), kNever) << to_string(state);
  }
}

}  // namespace
}  // namespace recourse::task

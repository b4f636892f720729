#include "task/record.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace recourse::task {
namespace {

using namespace std::chrono_literals;
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
              HasSubstr("task.search_keys must have a name, and plain text of at most 255 bytes"));

  spec = valid_spec();
  spec.headers = {{"h", std::string(kHeaderBytesMax, 'v')}};
  EXPECT_THAT(complaint(spec), HasSubstr("task.headers (bytes)"));
}

TEST(TaskSpec, KeysThatCouldNotBeStoredOrSentAreRefused) {
  TaskSpec spec = valid_spec();
  spec.kind = Kind("a\n");
  spec.unique_key = UniqueKey("\xFF\xFE");
  spec.headers = {{"X\r\nEvil", "1"}};
  spec.trace_parent = "00-xyz";

  const std::string message = complaint(spec);

  EXPECT_THAT(message, HasSubstr("task.kind must be valid UTF-8 without control characters"));
  EXPECT_THAT(message, HasSubstr("task.unique_key must be valid UTF-8"));
  EXPECT_THAT(message, HasSubstr("task.headers must have HTTP header names"));
  EXPECT_THAT(message, HasSubstr("task.trace_parent must be a W3C traceparent"));
}

TEST(TaskSpec, RealHeadersAndTracesPass) {
  TaskSpec spec = valid_spec();
  spec.headers = {{"X-Request-Id", "订单 7"}};
  spec.trace_parent = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
  spec.search_keys = {{"member", "m-1"}};

  EXPECT_EQ(complaint(spec), "");
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

TEST(TaskSpec, TheDefaultsAreThoseOfTheSources) {
  const TaskSpec spec;

  EXPECT_EQ(spec.priority, 5);
  EXPECT_EQ(spec.max_retries, 5);
  EXPECT_EQ(spec.timeout, 10s);
  EXPECT_EQ(spec.deadline, std::nullopt);
}

TEST(TaskSpec, EveryKeyAndEveryCountHasItsBound) {
  const std::string long_key(kKeyBytesMax + 1, 'k');
  TaskSpec spec = valid_spec();
  spec.tenant = Tenant(long_key);
  spec.shard_key = ShardKey(long_key);
  spec.unique_key = UniqueKey(long_key);
  spec.backoff = long_key;
  for (int i = 0; i < 33; ++i) spec.headers[std::to_string(i)] = "v";
  for (int i = 0; i < 9; ++i) spec.search_keys[std::to_string(i)] = "v";

  const std::string message = complaint(spec);

  for (const char* field : {"tenant", "shard_key", "unique_key", "backoff"}) {
    EXPECT_THAT(message, HasSubstr(std::string("task.") + field +
                                   " (bytes) must be between 0 and 255, not 256"));
  }
  EXPECT_THAT(message, HasSubstr("task.headers (count) must be between 0 and 32, not 33"));
  EXPECT_THAT(message, HasSubstr("task.search_keys (count) must be between 0 and 8, not 9"));
}

TEST(TaskSpec, NothingUnfitIsStoredOrSentInAnyField) {
  TaskSpec spec = valid_spec();
  spec.tenant = Tenant("a\n");
  spec.shard_key = ShardKey("a\n");
  spec.backoff = "a\n";
  spec.headers = {{"X-Note", "a\r\nEvil: 1"}};
  spec.trace_parent = "00-4BF92F3577B34DA6A3CE929D0E0E4736-00F067AA0BA902B7-01";

  const std::string message = complaint(spec);

  EXPECT_THAT(message, HasSubstr("task.tenant must be valid UTF-8"));
  EXPECT_THAT(message, HasSubstr("task.shard_key must be valid UTF-8"));
  EXPECT_THAT(message, HasSubstr("task.backoff must be valid UTF-8"));
  EXPECT_THAT(message, HasSubstr("task.headers must have HTTP header names, and values without"));
  EXPECT_THAT(message, HasSubstr("task.trace_parent must be a W3C traceparent"));
}

TEST(TaskSpec, ASearchKeyHasANameAndAShortOne) {
  TaskSpec spec = valid_spec();

  spec.search_keys = {{"", "7"}};
  EXPECT_THAT(complaint(spec), HasSubstr("task.search_keys must have a name"));

  spec.search_keys = {{std::string(kKeyBytesMax + 1, 'n'), "7"}};
  EXPECT_THAT(complaint(spec), HasSubstr("task.search_keys must have a name"));
}

}  // namespace
}  // namespace recourse::task

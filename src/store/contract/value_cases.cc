// Values come back as they were given: every byte, every microsecond.
#include <random>

#include "store/contract/contract.h"

namespace recourse::store::contract {
namespace {

using namespace std::chrono;
using testing::ElementsAre;

constexpr auto kFarFuture =
    sys_days(year(9999) / December / 31) + hours(23) + minutes(59) + seconds(59) + 999'999us;

std::vector<TimePoint> awkward_times() {
  return {
      TimePoint(0us),
      TimePoint(1us),
      sys_days(year(2001) / September / 9) + 1h + 46min + 39s + 999'999us,
      // Skipped, and had twice, by the clocks of Berlin, where somebody's server may stand.
      sys_days(year(2027) / March / 28) + 1h + 30min + 123'457us,
      sys_days(year(2027) / March / 28) + 2h + 30min + 1us,
      sys_days(year(2027) / October / 31) + 0h + 30min + 999'999us,
      sys_days(year(2027) / October / 31) + 1h + 30min + 1us,
      // Before and after what 32 bits hold.
      sys_days(year(2038) / January / 19) + 3h + 14min + 7s + 999'999us,
      sys_days(year(2038) / January / 19) + 3h + 14min + 8s + 1us,
      sys_days(year(2106) / February / 7) + 6h + 28min + 16s + 1us,
      sys_days(year(2400) / February / 29) + 1us,
      kFarFuture,
  };
}

std::string random_bytes(std::size_t size) {
  std::mt19937_64 engine(7);
  std::string bytes(size, '\0');
  for (char& byte : bytes) byte = static_cast<char>(engine());
  return bytes;
}

TEST_P(StoreContract, PayloadsKeepEveryByte) {
  std::string all_bytes;
  for (int byte = 0; byte < 256; ++byte) all_bytes += static_cast<char>(byte);
  const std::vector<std::string> payloads{"",
                                          std::string(1, '\0'),
                                          std::string("a\0b\0", 4),
                                          all_bytes,
                                          "{\"n\": 12345678901234567890.10, \"n\": 1e400}",
                                          "\\x00",
                                          "\\",
                                          "'; DROP TABLE task; --",
                                          "\xFF\xFE",
                                          "\xEF\xBB\xBF with a mark",
                                          " trailing \n"};
  std::vector<Submission> batch;
  for (const std::string& payload : payloads) {
    TaskSpec spec = spec_of();
    spec.payload = payload;
    batch.push_back(pending(new_id(), spec));
  }
  insert(batch);

  for (std::size_t i = 0; i < payloads.size(); ++i) {
    EXPECT_EQ(row(batch[i].id).spec.payload, payloads[i]);
  }
  for (const Task& task : claim(100)) EXPECT_EQ(task, row(task.id));
}

TEST_P(StoreContract, TheLargestPayloadIsKept) {
  TaskSpec spec = spec_of();
  spec.payload = random_bytes(task::kPayloadBytesMax);
  submit(spec);

  const Task task = claim_one();
  EXPECT_TRUE(task.spec.payload == spec.payload);
  settle(task, Move::kSucceed);
  EXPECT_TRUE(row(task.id).spec.payload == spec.payload);
}

TEST_P(StoreContract, ABatchAtTheByteLimitIsKept) {
  TaskSpec spec = spec_of();
  spec.payload = random_bytes(task::kPayloadBytesMax);
  const std::vector<TaskId> ids = submit_many(kBatchBytesMax / task::kPayloadBytesMax, spec);

  for (const Task& task : claim(100)) EXPECT_TRUE(task.spec.payload == spec.payload);
  EXPECT_EQ(count_of(State::kRunning), static_cast<std::int64_t>(ids.size()));
}

TEST_P(StoreContract, EveryFieldOfASpecIsKept) {
  TaskSpec spec;
  spec.tenant = Tenant("\xE6\x9D\xB1\xE4\xBA\xAC \xF0\x9F\x98\x80");  // Tokyo, and a smile
  spec.kind = Kind(std::string(task::kKindBytesMax, 'k'));
  spec.shard_key = task::ShardKey(std::string(task::kKeyBytesMax, 's'));
  spec.unique_key = UniqueKey("o'key\\ \"%_\xC3\xA9 ");
  spec.priority = 10;
  spec.payload = "p";
  for (std::size_t i = 0; i < task::kHeaderCountMax; ++i) {
    spec.headers["X-Header-" + std::to_string(i)] = "v\xC3\xA9 ='\"\\,{}" + std::to_string(i);
  }
  spec.headers["x-empty"] = "";
  spec.headers.erase("X-Header-0");
  spec.trace_parent = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
  for (std::size_t i = 0; i < task::kSearchKeyCountMax; ++i) {
    spec.search_keys["key \xF0\x9F\x98\x80 " + std::to_string(i)] =
        std::string(task::kKeyBytesMax, static_cast<char>('a' + i));
  }
  spec.max_retries = task::kRetriesMax;
  spec.timeout = 1'234'567us;
  spec.deadline = kFarFuture;
  spec.backoff = "slow-b\xC3\xA9";

  const TaskId id = submit(spec);

  EXPECT_EQ(row(id).spec, spec);
  EXPECT_EQ(claim_one(spec.kind.value).spec, spec);
  settle(row(id), Move::kSucceed);
  EXPECT_EQ(row(id).spec, spec);
}

TEST_P(StoreContract, TheSmallestSpecIsKept) {
  TaskSpec spec = spec_of("k");
  spec.priority = 0;
  spec.max_retries = 0;
  spec.timeout = 1ms;

  EXPECT_EQ(row(submit(spec)).spec, spec);
}

TEST_P(StoreContract, DeadlinesAreKeptToTheMicrosecond) {
  for (const TimePoint time : awkward_times()) {
    TaskSpec spec = spec_of();
    spec.deadline = time;
    const Task task = running(spec);
    EXPECT_EQ(task.spec.deadline, time);
    settle(task, Move::kSucceed);
    EXPECT_EQ(row(task.id).spec.deadline, time);
  }
}

TEST_P(StoreContract, EveryTimeOfARowIsKeptToTheMicrosecond) {
  for (const TimePoint time : awkward_times()) {
    const Task task = running();
    Transition end = plan(task, Move::kGiveUp, time);
    end.due_at = time;
    end.first_started_at = time;
    Attempt attempt = attempt_of(task, end, 1);
    attempt.started_at = time;
    attempt.next_due = time;

    apply_one(end, attempt);

    EXPECT_EQ(row(task.id), task::apply(task, end));
    EXPECT_THAT(attempts_of(task.id), ElementsAre(attempt));
  }
}

TEST_P(StoreContract, EveryTimeOfAFinishedRowIsKeptToTheMicrosecond) {
  for (const TimePoint time : awkward_times()) {
    const Task task = running();
    Transition end = plan(task, Move::kSucceed, time);
    end.first_started_at = time;

    apply_one(end);

    EXPECT_EQ(row(task.id), task::apply(task, end));
  }
}

TEST_P(StoreContract, WhatIsDueInFarTimesIsNotDueNow) {
  submit_many(awkward_times().size());
  const TimePoint now = store_now();
  std::size_t due = 0;
  std::size_t next = 0;
  for (const Task& task : claim(100)) {
    Transition retry = plan(task, Move::kRetry, now);
    retry.due_at = awkward_times()[next++];
    if (retry.due_at <= now) ++due;
    apply_one(retry);
  }

  EXPECT_EQ(claim(100).size(), due);
}

TEST_P(StoreContract, LargeNumbersOfARowAreKept) {
  const Task task = running();
  Transition retry = plan(task, Move::kRetryHere, store_now());
  retry.retries = task::kRetriesMax;
  retry.attempts = 2'000'000'000;
  retry.episode = 1'000'000;

  apply_one(retry);

  EXPECT_EQ(row(task.id), task::apply(task, retry));
}

TEST_P(StoreContract, WorkersNamesAreKept) {
  submit();
  const std::string name = "w\xC3\xB6rker '\"\\ \xF0\x9F\x98\x80";

  const Task task = lease(name, kHour).at(0);

  EXPECT_EQ(task.owner, Owner(WorkerName(name)));
  EXPECT_EQ(row(task.id), task);
}

TEST_P(StoreContract, ErrorCodesAndMessagesAreKept) {
  for (const std::string& text :
       {std::string(), std::string("it's \"quoted\" \\ %s {} $1 ?"), std::string("a\nb\tc\r\n"),
        std::string("\xF0\x9F\x98\x80"), std::string(4'000, 'x')}) {
    const Task task = running();
    Transition end = plan(task, Move::kFail, store_now());
    end.error = task::Reason{"HTTP_503", text};
    apply_one(end);
    EXPECT_EQ(row(task.id).last_error, end.error);
    must(control(task.id, Move::kResolve));
    EXPECT_EQ(row(task.id).last_error, end.error) << "what a person saw to is kept";
  }
}

}  // namespace
}  // namespace recourse::store::contract

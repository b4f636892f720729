// What the degrade door does to its callers: little, and nothing without saying so.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <latch>
#include <memory>

#include "recourse/json.h"
#include "tests/degrade_fixture.h"

namespace recourse::tests {
namespace {

using ::testing::HasSubstr;

struct Grant {
  std::string member;
  int amount = 0;
};
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Grant, member, amount)

class DegradeCaller : public DegradeOnStore {};

TEST_P(DegradeCaller, ActionsMayAnswerAnything) {
  Degrade degrade = open(quick());
  const auto attempt = [&](auto action) {
    return degrade.attempt(kPoints, std::string_view("1"), {}, action).value();
  };

  EXPECT_EQ(attempt([](const InlineCall&) { return 7; }).value, 7);
  EXPECT_EQ(attempt([](const InlineCall&) { return std::string("balance"); }).value, "balance");
  EXPECT_EQ(attempt([](const InlineCall&) { return Result<int>(8); }).value, 8);
  EXPECT_FALSE(attempt([](const InlineCall&) {}).degraded);
  EXPECT_FALSE(attempt([](const InlineCall&) { return Result<>(); }).degraded);
  EXPECT_EQ(attempt([](const InlineCall&) { return false; }).reason, "the action answered false");
  EXPECT_EQ(attempt([](const InlineCall&) -> Result<int> {
              return fail(ErrorCode::kUnavailable, "try later");
            }).reason,
            "try later");
  EXPECT_EQ(attempt([](const InlineCall&) -> int { throw std::runtime_error("broken"); }).reason,
            "broken");
  EXPECT_TRUE(attempt([](const InlineCall&) -> int { throw 7; }).degraded);
}

TEST_P(DegradeCaller, PayloadsMayBeTyped) {
  Degrade degrade = Degrade::on(engine_, quick()).value();
  degrade.handle<Grant>(
      kPoints,
      [this](const Attempt& attempt, const Grant& grant) {
        return points_.grant(attempt.id(), grant.amount);
      },
      quick_kind());
  engine_.start().value();

  const auto granted = degrade.attempt(kPoints, Grant{"m-1", 25}, {.member = "m-1"},
                                       [](const InlineCall&) { return false; });

  ASSERT_TRUE(granted);
  ASSERT_TRUE(reaches(degrade, granted->id, "COMPLETED"));
  EXPECT_EQ(points_.granted().at(granted->id), 25);
}

// An action that overruns is left behind: its caller goes on at the limit, and what it captured
// lives as long as it does.
TEST_P(DegradeCaller, IsNotHeldUpByAnActionThatHangs) {
  Degrade degrade = open(quick());
  const auto ended = std::make_shared<std::latch>(1);
  const auto begun = std::chrono::steady_clock::now();

  const auto granted =
      degrade.attempt(kPoints, std::string_view("1"), {}, [ended](const InlineCall& call) {
        std::latch stopped(1);
        const std::stop_callback heard(call.stop_token(), [&] { stopped.count_down(); });
        stopped.wait();
        ended->count_down();
        return true;
      });

  ASSERT_TRUE(granted);
  EXPECT_TRUE(granted->degraded);
  EXPECT_THAT(granted->reason, HasSubstr("no answer within 200ms"));
  EXPECT_LT(std::chrono::steady_clock::now() - begun, 2s);
  ended->wait();
  EXPECT_TRUE(reaches(degrade, granted->id, "COMPLETED"));
}

// Bad input is refused by its field, before anything is called or written.
TEST_P(DegradeCaller, IsToldOfBadInputByItsField) {
  Degrade degrade = open(quick());
  const auto refused = [&](std::string_view kind, const DegradeKeys& keys) {
    const auto answer =
        degrade.attempt(kind, std::string_view("1"), keys,
                        [this](const InlineCall& call) { return points_.grant(call.id(), 1); });
    EXPECT_FALSE(answer);
    EXPECT_EQ(answer.error().code, ErrorCode::kInvalid);
    return answer.error().message;
  };

  EXPECT_THAT(refused("unheard-of", {}), HasSubstr("failure.kind"));
  EXPECT_THAT(refused(kPoints, {.member = std::string(300, 'x')}), HasSubstr("failure.member"));
  EXPECT_THAT(refused(kPoints, {.related_id = "a\nb"}), HasSubstr("failure.related_id"));
  EXPECT_THAT(refused(kPoints, {.type = "a\x01"}), HasSubstr("failure.type"));
  EXPECT_THAT(refused(kPoints, {.remark = std::string(1'001, 'x')}), HasSubstr("failure.remark"));
  EXPECT_THAT(refused(kPoints, {.tenant = "a\nb"}), HasSubstr("tenant"));
  const auto large = degrade.record_failure(kPoints, std::string(300'000, 'x'), {}, "down");
  EXPECT_THAT(large.error().message, HasSubstr("payload"));
  const auto odd = degrade.record_failure(kPoints, "1", {}, "down", "not an id");
  EXPECT_THAT(odd.error().message, HasSubstr("id"));
  EXPECT_THAT(degrade.list({.status = "DONE"}).error().message, HasSubstr("query.status"));
  EXPECT_THAT(degrade.list({.kind = "other"}).error().message, HasSubstr("query.kind"));
  EXPECT_THAT(degrade.list({}, 0).error().message, HasSubstr("limit"));
  EXPECT_THAT(degrade.retry_all({}, 0, "alice").error().message, HasSubstr("bound"));

  EXPECT_EQ(points_.calls(), 0);
  EXPECT_TRUE(degrade.list().value().records.empty());
  EXPECT_EQ(degrade.summary().value().spooled_bytes, 0U);
}

TEST_P(DegradeCaller, BadOptionsAreRefusedByName) {
  const auto refused = [&](const DegradeOptions& options) {
    Engine engine = Engine::open({.store = "memory:"}).value();
    const auto degrade = Degrade::on(engine, options);
    EXPECT_FALSE(degrade);
    return degrade ? std::string() : degrade.error().message;
  };
  DegradeOptions options = quick();
  options.limit = 0ms;
  EXPECT_THAT(refused(options), HasSubstr("degrade.limit"));
  options = quick();
  options.max_retries = 0;
  EXPECT_THAT(refused(options), HasSubstr("degrade.max_retries"));
  options = quick();
  options.breaker_failure_ratio = 2;
  EXPECT_THAT(refused(options), HasSubstr("breaker.failure_ratio"));
  options = quick();
  options.spool_bytes = 10;
  EXPECT_THAT(refused(options), HasSubstr("spool.bytes_max"));
  options = quick();
  options.store_patience = 0ms;
  EXPECT_THAT(refused(options), HasSubstr("degrade.store_patience"));
}

TEST_P(DegradeCaller, KindsAreWholeNamesAndGivenOnce) {
  Degrade degrade = Degrade::on(engine_, quick()).value();
  degrade.know("points.*");

  const auto started = engine_.start();

  ASSERT_FALSE(started);
  EXPECT_THAT(started.error().message, HasSubstr("whole name"));
}

// Two doors would empty one spool, and count one breaker each.
TEST_P(DegradeCaller, AnEngineHasOneDoorAndASpoolOneOwner) {
  const Degrade degrade = Degrade::on(engine_, quick()).value();
  EXPECT_FALSE(Degrade::on(engine_, quick()));
  Engine other = Engine::open({.store = "memory:"}).value();

  const auto second = Degrade::on(other, quick());

  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().code, ErrorCode::kConflict);
}

// Recorded twice under one id, it exists once.
TEST_P(DegradeCaller, MayRecordAgainUnderTheSameId) {
  DegradeOptions options = quick();
  options.first_retry_after = 1h;
  Degrade degrade = open(options);
  const std::string id = engine_.new_id();

  EXPECT_EQ(degrade.record_failure(kPoints, "1", {}, "down", id).value(), id);
  EXPECT_EQ(degrade.record_failure(kPoints, "1", {}, "down", id).value(), id);

  EXPECT_EQ(degrade.list().value().records.size(), 1U);
}

TEST_P(DegradeCaller, IsRefusedAnIdThatMeansSomethingElse) {
  DegradeOptions options = quick();
  options.first_retry_after = 1h;
  Degrade degrade = open(options);
  const std::string id = degrade.record_failure(kPoints, "1", {.member = "m-1"}, "down").value();

  const auto other = degrade.record_failure(kPoints, "2", {.member = "m-1"}, "down", id);

  ASSERT_FALSE(other);
  EXPECT_EQ(other.error().code, ErrorCode::kConflict);
  EXPECT_THAT(other.error().message, HasSubstr("taken by a task of kind grant-points"));
  EXPECT_TRUE(degrade.record_failure(kPoints, "1", {.member = "m-1"}, "still down", id));
}

// While the store was away nobody could know: it is not lost in silence later.
TEST_P(DegradeCaller, WhatWasSpooledUnderAnotherOnesIdIsSetAside) {
  DegradeOptions options = quick();
  options.first_retry_after = 1h;
  Degrade degrade = Degrade::on(engine_, options).value();
  degrade.know(kPoints);
  const std::string id = engine_.new_id();
  ASSERT_TRUE(degrade.record_failure(kPoints, "1", {}, "down", id));
  ASSERT_TRUE(degrade.record_failure(kPoints, "2", {}, "down", id));
  ASSERT_TRUE(degrade.record_failure(kPoints, "1", {}, "down again", id));

  engine_.start().value();

  EXPECT_TRUE(eventually([&] { return log_.count("degrade_spool_emptied") > 0; }));
  EXPECT_TRUE(eventually([&] { return log_.count("degrade_record_refused") > 0; }));
  EXPECT_EQ(log_.count("degrade_record_refused"), 1);
  EXPECT_EQ(degrade.list().value().records.size(), 1U);
}

// Before the engine starts and after it has stopped the store is not reached: the spool takes it,
// and the next start finds it there.
TEST_P(DegradeCaller, IsNotFailedByAnEngineThatDoesNotRun) {
  Degrade degrade = Degrade::on(engine_, quick()).value();
  degrade.handle_bytes(
      kPoints,
      [this](const Attempt& attempt) { return points_.grant(attempt.id(), amount_of(attempt)); },
      quick_kind());
  const std::string early = degrade.record_failure(kPoints, "1", {}, "down").value();
  EXPECT_GT(degrade.summary().value().spooled_bytes, 0U);

  engine_.start().value();

  EXPECT_TRUE(eventually([&] {
    const auto record = degrade.find(early);
    return record && record->status == "COMPLETED";
  }));
  EXPECT_TRUE(eventually([&] { return degrade.summary().value().spooled_bytes == 0; }));
}

// Only when the spool is full as well is the caller told, and by an error that says so.
TEST_P(DegradeCaller, IsToldWhenEvenTheSpoolIsFull) {
  DegradeOptions options = quick();
  options.spool_bytes = 1024 * 1024;
  Degrade degrade = Degrade::on(engine_, options).value();
  degrade.know(kPoints);
  const std::string payload(200'000, 'x');
  Result<std::string> last = std::string();
  int taken = 0;
  while (taken < 100 && (last = degrade.record_failure(kPoints, payload, {}, "down"))) ++taken;

  ASSERT_FALSE(last);
  EXPECT_EQ(taken, 5);
  EXPECT_EQ(last.error().code, ErrorCode::kExhausted);
  EXPECT_THAT(last.error().message, HasSubstr("the spool"));
  EXPECT_THAT(last.error().message, HasSubstr("is full"));
  EXPECT_THAT(last.error().message, HasSubstr("nothing was recorded"));
}

TEST_P(DegradeCaller, WithoutASpoolIsToldWhatTheStoreSaid) {
  DegradeOptions options = quick();
  options.spool = "";
  Degrade degrade = Degrade::on(engine_, options).value();
  degrade.know(kPoints);

  const auto refused = degrade.record_failure(kPoints, "1", {}, "down");

  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::kUnavailable);
  EXPECT_THAT(refused.error().message, HasSubstr("give the degrade door a spool"));
}

INSTANTIATE_TEST_SUITE_P(Stores, DegradeCaller, ::testing::Values("Memory", "Sqlite"),
                         [](const auto& store) { return std::string(store.param); });

}  // namespace
}  // namespace recourse::tests

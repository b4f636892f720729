#include "policy/failure_router.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <new>
#include <stdexcept>
#include <string>
#include <system_error>

#include "base/named.h"

namespace recourse::policy {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;

HttpAnswer http(int status) {
  return {.status = status, .reason = "", .retry_after = std::nullopt};
}

template <class E>
Failure failure_by(E error) {
  return Thrown{std::make_exception_ptr(std::move(error))};
}

TEST(FailureRouter, AnUnmatchedFailureIsADeadLetterWithItsOwnText) {  // FAIL-2
  const Decision decision = standard_router().decide(failure_by(42));

  EXPECT_EQ(decision.outcome, Outcome::kDeadLetter);
  EXPECT_EQ(decision.code, "UNMATCHED");
  EXPECT_EQ(decision.message, "a value of type int was thrown");
}

TEST(FailureRouter, TheDefaultRuleIsASetting) {
  const FailureRouter router(retry(Category::kUnknown, "TRY_ANYWAY", ""));

  EXPECT_EQ(router.decide(failure_by(42)).outcome, Outcome::kRetry);
}

TEST(FailureRouter, WhatTheRunnerReportsIsRetriedInItsCategory) {
  const FailureRouter router = standard_router();

  EXPECT_EQ(router.decide(Declined{"stock is locked"}).category, Category::kBizRetryable);
  EXPECT_EQ(router.decide(Declined{"stock is locked"}).message, "stock is locked");
  EXPECT_EQ(router.decide(TimedOut{10s}).category, Category::kTimeout);
  EXPECT_EQ(router.decide(TimedOut{10s}).message, "no answer within 10s");
  EXPECT_EQ(router.decide(Unreachable{"connection refused"}).category, Category::kIo);
  EXPECT_EQ(router.decide(Unreachable{"connection refused"}).outcome, Outcome::kRetry);
}

TEST(FailureRouter, HttpAnswersAreJudgedByTheirStatus) {
  const FailureRouter router = standard_router();

  for (const int status : {408, 425, 429, 500, 502, 503, 504, 599}) {
    EXPECT_EQ(router.decide(http(status)).outcome, Outcome::kRetry) << status;
  }
  for (const int status : {301, 400, 401, 403, 404, 409, 410, 418, 422}) {
    EXPECT_EQ(router.decide(http(status)).outcome, Outcome::kDeadLetter) << status;
    EXPECT_EQ(router.decide(http(status)).category, Category::kBiz4xx) << status;
  }
  EXPECT_EQ(router.decide(http(408)).category, Category::kTimeout);
  EXPECT_EQ(router.decide(http(429)).category, Category::kRateLimited);
  EXPECT_EQ(router.decide(http(503)).code, "HTTP_503");
}

TEST(FailureRouter, TheDownstreamsRetryAfterIsCarriedOn) {
  EXPECT_EQ(standard_router().decide(HttpAnswer{503, "", 30s}).retry_after, 30s);
  EXPECT_EQ(standard_router().decide(HttpAnswer{404, "", 30s}).retry_after, std::nullopt);
}

TEST(FailureRouter, AnOddRetryAfterIsClampedNotHeldAgainstTheTask) {
  EXPECT_EQ(standard_router().decide(HttpAnswer{503, "", -5s}).retry_after, 0s);
  EXPECT_EQ(standard_router().decide(HttpAnswer{503, "", Duration::max()}).retry_after,
            kLongestWait);
  EXPECT_EQ(standard_router().decide(HttpAnswer{503, "", Duration::max()}).outcome,
            Outcome::kRetry);
}

TEST(FailureRouter, AUsersExceptionTypeTakesPartInTheClosestMatch) {
  ExceptionCases exceptions = standard_exception_cases();
  exceptions.on<std::exception>(
      [](const std::exception&) { return Decision{.outcome = Outcome::kPaused, .code = "ANY"}; });
  const FailureRouter router = standard_router(exceptions);

  EXPECT_EQ(router.decide(failure_by(std::bad_alloc())).code, "ANY");
  EXPECT_EQ(router.decide(failure_by(std::runtime_error("x"))).code, "HANDLER_ERROR");
}

TEST(FailureRouter, WhatComesOutIsCleanAndBoundedWhateverWasThrown) {
  const Decision decision = standard_router().decide(
      failure_by(std::runtime_error(std::string(1'000'000, 'x') + "\xFF")));

  EXPECT_EQ(decision.message.size(), 4'000U);
  EXPECT_EQ(standard_router().decide(Declined{"a\xFF"}).message, "a\xEF\xBF\xBD");
}

TEST(FailureRouter, ADecisionThatWouldNeverEndIsRefused) {
  FailureRouter router = standard_router();
  router.add_first([](const Failure&) -> std::optional<Decision> {
    return Decision{.outcome = Outcome::kRetry, .backoff_factor = 0, .uses_retry = false};
  });

  EXPECT_THAT(router.decide(Declined{"no"}).message,
              HasSubstr("decision.uses_retry must be true where there is no wait"));
}

RC_GTEST_PROP(FailureRouter, EveryHttpStatusIsDecidedAndNamed, ()) {
  const auto status = *rc::gen::inRange(100, 1'000);

  const Decision decision = standard_router().decide(http(status));

  RC_ASSERT(decision.code == "HTTP_" + std::to_string(status));
  RC_ASSERT((decision.outcome == Outcome::kRetry) ==
            (status >= 500 || status == 408 || status == 425 || status == 429));
}

TEST(FailureRouter, SqlStatesAreJudgedByTheirClass) {
  const FailureRouter router = standard_router();

  EXPECT_EQ(router.decide(SqlFailure{"08006", "gone"}).category, Category::kIo);
  EXPECT_EQ(router.decide(SqlFailure{"57P01", "shutdown"}).outcome, Outcome::kRetry);
  EXPECT_EQ(router.decide(SqlFailure{"57014", "cancelled"}).category, Category::kTimeout);
  EXPECT_EQ(router.decide(SqlFailure{"40P01", "deadlock"}).outcome, Outcome::kRetry);
  EXPECT_EQ(router.decide(SqlFailure{"23505", "duplicate"}).outcome, Outcome::kDeadLetter);
}

TEST(FailureRouter, AUsersCaseIsAskedFirst) {
  FailureRouter router = standard_router();
  router.add_first([](const Failure& failure) -> std::optional<Decision> {
    if (!std::holds_alternative<TimedOut>(failure)) return std::nullopt;
    return Decision{.outcome = Outcome::kPaused, .code = "MY_RULE"};
  });

  EXPECT_EQ(router.decide(TimedOut{1s}).outcome, Outcome::kPaused);
  EXPECT_EQ(router.decide(Declined{"no"}).outcome, Outcome::kRetry);
}

TEST(FailureRouter, ACaseThatThrowsHandsTheTaskToAPerson) {
  FailureRouter router = standard_router();
  router.add_first([](const Failure&) -> std::optional<Decision> { throw 7; });

  const Decision decision = router.decide(Declined{"no"});

  EXPECT_EQ(decision.outcome, Outcome::kDeadLetter);
  EXPECT_EQ(decision.code, "CLASSIFIER_ERROR");
  EXPECT_EQ(decision.message,
            "a failure case threw int: a value of type int was thrown; the failure was: no");
}

TEST(FailureRouter, ACaseThatDecidesNonsenseHandsTheTaskToAPerson) {
  FailureRouter router = standard_router();
  router.add_first([](const Failure&) -> std::optional<Decision> {
    return Decision{.outcome = Outcome::kRetry, .backoff_factor = -2};
  });

  const Decision decision = router.decide(Declined{"no"});

  EXPECT_EQ(decision.outcome, Outcome::kDeadLetter);
  EXPECT_THAT(decision.message,
              HasSubstr("decision.backoff_factor must be between 0 and 1000, not -2"));
}

TEST(MessageRouter, RetriesConnectionsAndTimeoutsAndWordsThatSpeakOfThem) {  // MSG-4
  const FailureRouter router = message_router();
  const auto outcome = [&](const Failure& failure) { return router.decide(failure).outcome; };

  EXPECT_EQ(outcome(SqlFailure{"08001", "cannot connect"}), Outcome::kRetry);
  EXPECT_EQ(outcome(TimedOut{1s}), Outcome::kRetry);
  EXPECT_EQ(
      outcome(failure_by(std::system_error(std::make_error_code(std::errc::connection_refused)))),
      Outcome::kRetry);
  EXPECT_EQ(outcome(SqlFailure{"HY000", "Lost connection to MySQL server"}), Outcome::kRetry);
  EXPECT_EQ(outcome(failure_by(std::logic_error("Read TIMEOUT after 3 tries"))), Outcome::kRetry);
  EXPECT_EQ(outcome(failure_by(std::runtime_error("Network is down"))), Outcome::kRetry);
  EXPECT_EQ(outcome(Declined{"Connection pool exhausted"}), Outcome::kRetry);
}

TEST(MessageRouter, BusinessErrorsAreForAPerson) {
  const FailureRouter router = message_router();

  EXPECT_EQ(router.decide(failure_by(std::runtime_error("order is closed"))).outcome,
            Outcome::kDeadLetter);
  EXPECT_EQ(router.decide(Declined{"order is closed"}).outcome, Outcome::kDeadLetter);
  EXPECT_EQ(router.decide(SqlFailure{"40001", "serialization failure"}).outcome,
            Outcome::kDeadLetter)
      << "the source retries 08 and nothing else";
  EXPECT_EQ(router.decide(http(404)).outcome, Outcome::kDeadLetter);
  EXPECT_EQ(router.decide(http(503)).outcome, Outcome::kRetry)
      << "a kind bound to HTTP keeps its rule";
}

TEST(Failure, IsDescribedInCleanShortText) {
  const FailureText text =
      describe(failure_by(std::runtime_error(std::string(10'000, 'x') + '\0')));

  EXPECT_EQ(text.type, "std::runtime_error");
  EXPECT_EQ(text.message.size(), 4'000U);
  EXPECT_EQ(describe(Declined{std::string("a\0b\xFF", 4)}).message,
            "a\xEF\xBF\xBD"
            "b\xEF\xBF\xBD");
  EXPECT_EQ(describe(Thrown{nullptr}).message, "no exception was kept");
  EXPECT_EQ(describe(SqlFailure{"23505", "duplicate key"}).message, "duplicate key (23505)");
}

TEST(Decision, EveryNameParsesBack) {
  for (const Outcome outcome : kAllOutcomes) {
    EXPECT_EQ(find_named(kAllOutcomes, to_string(outcome)), outcome);
  }
  for (const Category category : kAllCategories) {
    EXPECT_EQ(find_named(kAllCategories, to_string(category)), category);
  }
}

TEST(Decision, WhatIsPutOffUsesNoRetryAndWaitsFourTimesAsLong) {  // LOAD-3
  const Decision decision = put_off(Category::kOpenCircuit, "breaker of grant-points is open");

  EXPECT_EQ(decision.outcome, Outcome::kRetry);
  EXPECT_EQ(decision.code, "OPEN_CIRCUIT");
  EXPECT_EQ(decision.backoff_factor, 4.0);
  EXPECT_FALSE(decision.uses_retry);
  EXPECT_FALSE(decision.prefer_sticky);
}

TEST(FailureRouter, LackOfResourcesInADatabaseIsRetried) {
  EXPECT_EQ(standard_router().decide(SqlFailure{"53100", "disk full"}).outcome, Outcome::kRetry);
}

TEST(FailureRouter, WhatTheRunnerReportsHasAFixedCode) {
  const FailureRouter router = standard_router();

  EXPECT_EQ(router.decide(Declined{"no"}).code, "DECLINED");
  EXPECT_EQ(router.decide(TimedOut{1s}).code, "TIMEOUT");
  EXPECT_EQ(router.decide(Unreachable{"refused"}).code, "UNREACHABLE");
  const Decision lost = router.decide(Unreachable{.reason = "broke", .was_sent = true});
  EXPECT_EQ(lost.code, "ANSWER_LOST");
  EXPECT_TRUE(leaves_in_doubt(lost.code)) << "so that a probe is asked first";
}

TEST(FailureRouter, AKeywordMayBeGivenInCapitals) {
  const FailureCase on_lock = retry_on_keywords({{"LOCKED", Category::kBizRetryable}});

  EXPECT_TRUE(on_lock(Declined{"stock is Locked"}));
}

TEST(MessageRouter, EachKeywordHasItsCategory) {
  const FailureRouter router = message_router();
  const auto category = [&](const char* text) {
    return router.decide(failure_by(std::runtime_error(text))).category;
  };

  EXPECT_EQ(category("read timeout"), Category::kTimeout);
  EXPECT_EQ(category("read timed out"), Category::kTimeout);
  EXPECT_EQ(category("connection reset"), Category::kIo);
  EXPECT_EQ(category("network is down"), Category::kIo);
}

TEST(FailureRouter, ALongCodeIsCut) {
  FailureRouter router = standard_router();
  router.add_first([](const Failure&) -> std::optional<Decision> {
    return Decision{.code = std::string(100, 'C')};
  });

  EXPECT_EQ(router.decide(Declined{"no"}).code, std::string(64, 'C'));
}

TEST(FailureRouter, ASqlFailureWithoutAStateIsUnmatched) {
  EXPECT_EQ(standard_router().decide(SqlFailure{"", "gone"}).code, "UNMATCHED");
}

TEST(Failure, AnHttpAnswerIsDescribedByStatusAndReason) {
  EXPECT_EQ(describe(HttpAnswer{503, "Service Unavailable", std::nullopt}).message,
            "HTTP 503 Service Unavailable");
}

TEST(Decision, BadOnesAreRefusedByNameAndRange) {
  EXPECT_EQ(validate(Decision{.retry_after = -1s, .snooze = -1s}).error().message,
            "decision.retry_after must be between 0s and 365d, not -1s; "
            "decision.snooze must be between 0s and 365d, not -1s");
  EXPECT_EQ(validate(Decision{.snooze = 0s, .uses_retry = false}).error().message,
            "decision.uses_retry must be true where there is no wait, or it would never end");
}

}  // namespace
}  // namespace recourse::policy

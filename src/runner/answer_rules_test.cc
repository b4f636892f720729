#include "runner/answer_rules.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "policy/failure_router.h"
#include "runner/test_attempt.h"

namespace recourse::runner {
namespace {

using namespace std::chrono_literals;
using policy::Outcome;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr TimePoint kNow{784111777s};  // Sun, 06 Nov 1994 08:49:37 GMT

engine::AttemptResult judged(const http::CallResult& result) {
  const Judgement judgement = judge_answer(result, 10s, kNow);
  const auto* end = std::get_if<engine::AttemptResult>(&judgement);
  if (end != nullptr) return *end;
  ADD_FAILURE() << "answers later";
  return engine::NotStarted{};
}

policy::Decision word(std::string outcome, http::Headers headers = {}, int status = 200) {
  headers.add("Recourse-Outcome", std::move(outcome));
  return decided(judged(http::Answer{.status = status, .headers = headers, .body = "no stock"}));
}

TEST(AnswerRules, EverySuccessIsDone) {
  for (const int status : {200, 201, 204, 299}) {
    EXPECT_TRUE(succeeded(judged(http::Answer{.status = status}))) << status;
  }
}

TEST(AnswerRules, AcceptedMeansLater) {
  const auto lease = [](http::Headers headers) {
    return std::get<AnswersLater>(
               judge_answer(http::Answer{.status = 202, .headers = std::move(headers)}, 10s, kNow))
        .lease;
  };
  EXPECT_EQ(lease({}), std::nullopt);
  EXPECT_EQ(lease({{"Recourse-Lease", "90"}}), 90s);
  EXPECT_EQ(lease({{"Recourse-Lease", "1h30m"}}), 90min);
  EXPECT_EQ(lease({{"Recourse-Lease", "soon"}}), std::nullopt);
}

TEST(AnswerRules, OtherStatusesAreTheRoutersToJudge) {
  const auto answer = failed<policy::HttpAnswer>(judged(http::Answer{
      .status = 503, .headers = {{"Retry-After", "120"}}, .body = "<h1>\n Down\r\n\x1B[0m</h1>"}));

  EXPECT_EQ(answer.status, 503);
  EXPECT_EQ(answer.retry_after, 120s);
  EXPECT_EQ(answer.reason, "<h1> Down [0m</h1>");
}

TEST(AnswerRules, RetryAfterMayBeADate) {
  const auto answer = failed<policy::HttpAnswer>(judged(
      http::Answer{.status = 429, .headers = {{"Retry-After", "Sun, 06 Nov 1994 08:50:37 GMT"}}}));

  EXPECT_EQ(answer.retry_after, 60s);
  EXPECT_EQ(answer.reason, "without a body");
}

TEST(AnswerRules, OfALongBodyTheBeginningIsEnough) {
  const auto answer = failed<policy::HttpAnswer>(
      judged(http::Answer{.status = 500, .body = std::string(9'000, 'x')}));

  EXPECT_EQ(answer.reason, std::string(500, 'x'));
}

TEST(AnswerRules, ARedirectSaysWhatToDo) {
  const auto answer = failed<policy::HttpAnswer>(judged(http::Answer{.status = 308}));

  EXPECT_THAT(answer.reason, HasSubstr("not followed"));
  EXPECT_EQ(policy::standard_router().decide(answer).outcome, Outcome::kDeadLetter);
}

TEST(AnswerRules, TheOutcomeHeaderDecidesInsteadOfTheStatus) {
  for (const int status : {200, 202, 404, 500}) {
    EXPECT_TRUE(succeeded(
        judged(http::Answer{.status = status, .headers = {{"recourse-outcome", "Done"}}})));
    EXPECT_EQ(word("dead", {}, status).outcome, Outcome::kDeadLetter);
    EXPECT_EQ(word("failed", {}, status).outcome, Outcome::kFailed);
    EXPECT_EQ(word("cancelled", {}, status).outcome, Outcome::kCancelled);
    EXPECT_EQ(word("retry", {}, status).outcome, Outcome::kRetry);
  }
  EXPECT_THAT(word("dead").message, HasSubstr("no stock"));
}

TEST(AnswerRules, ARetryUsesOneAndWaitsAtLeastAsAskedFor) {
  const policy::Decision retry = word("retry", {{"Retry-After", "30"}});

  EXPECT_TRUE(retry.uses_retry);
  EXPECT_EQ(retry.retry_after, 30s);
  EXPECT_EQ(retry.snooze, std::nullopt);
}

TEST(AnswerRules, ASnoozeUsesNoneAndWaitsExactlyAsLong) {
  const policy::Decision snooze = word("snooze", {{"Retry-After", "30"}});

  EXPECT_EQ(snooze.outcome, Outcome::kRetry);
  EXPECT_FALSE(snooze.uses_retry);
  EXPECT_EQ(snooze.snooze, 30s);
}

TEST(AnswerRules, ASnoozeThatDoesNotSayWaitsAMinute) {
  EXPECT_EQ(word("snooze").snooze, 1min);
  EXPECT_EQ(word("snooze", {{"Retry-After", "0"}}).snooze, 1min);
  EXPECT_EQ(word("snooze", {{"Retry-After", "whenever"}}).snooze, 1min);
}

TEST(AnswerRules, AnOutcomeThatIsNoneGoesToAPerson) {
  const policy::Decision decision = word("retyr");

  EXPECT_EQ(decision.outcome, Outcome::kDeadLetter);
  EXPECT_THAT(decision.message, HasSubstr("retyr"));
}

TEST(AnswerRules, EveryDecisionCanBeCarriedOut) {
  for (const char* outcome : {"retry", "snooze", "dead", "failed", "cancelled", "other"}) {
    for (const char* wait : {"0", "1", "99999999999999999999", "x"}) {
      EXPECT_TRUE(validate(word(outcome, {{"Retry-After", wait}}))) << outcome << wait;
    }
  }
}

TEST(AnswerRules, TroubleOnTheWayIsAFailureOfItsKind) {
  const auto trouble = [](http::CallTrouble which) {
    return judged(http::CallFailed{which, "https://example.org:443: it says no"});
  };
  EXPECT_EQ(failed<policy::TimedOut>(trouble(http::CallTrouble::kTimedOut)).limit, 10s);
  EXPECT_FALSE(failed<policy::Unreachable>(trouble(http::CallTrouble::kUnreachable)).was_sent);
  EXPECT_TRUE(failed<policy::Unreachable>(trouble(http::CallTrouble::kBroken)).was_sent);
  EXPECT_THAT(failed<policy::Unreachable>(trouble(http::CallTrouble::kUnreachable)).reason,
              HasSubstr("it says no"));
  const auto forbidden = decided(trouble(http::CallTrouble::kForbidden));
  EXPECT_EQ(forbidden.outcome, Outcome::kDeadLetter);
  EXPECT_THAT(forbidden.message, HasSubstr("URL"));
  const auto untrusted = decided(trouble(http::CallTrouble::kUntrusted));
  EXPECT_EQ(untrusted.outcome, Outcome::kRetry);
  EXPECT_THAT(untrusted.message, HasSubstr("certificate"));
  const auto stopped = decided(trouble(http::CallTrouble::kStopped));
  EXPECT_EQ(stopped.outcome, Outcome::kRetry);
  // By which the engine knows that it may have happened.
  EXPECT_EQ(stopped.code, "TIMEOUT");
}

TEST(AnswerRules, AProbesAnswerIsYesNoOrUnknown) {
  const auto probed = [](int status) { return judge_probe(http::Answer{.status = status}, kNow); };
  EXPECT_TRUE(std::holds_alternative<IsDone>(probed(200)));
  for (const int status : {404, 409, 410}) {
    EXPECT_TRUE(std::holds_alternative<IsNotDone>(probed(status))) << status;
  }
  for (const int status : {202, 204, 302, 400, 401, 429, 500, 503}) {
    const ProbeAnswer answer = probed(status);
    ASSERT_TRUE(std::holds_alternative<IsUnknown>(answer)) << status;
    // Or it would not be asked again.
    EXPECT_EQ(std::get<IsUnknown>(answer).decision.code, "TIMEOUT");
    EXPECT_EQ(std::get<IsUnknown>(answer).decision.outcome, Outcome::kRetry);
  }
  EXPECT_TRUE(std::holds_alternative<IsUnknown>(
      judge_probe(http::CallFailed{http::CallTrouble::kUnreachable, "gone"}, kNow)));
}

}  // namespace
}  // namespace recourse::runner

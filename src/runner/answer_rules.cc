#include "runner/answer_rules.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <string>
#include <string_view>
#include <utility>

#include "base/duration_text.h"
#include "base/text.h"
#include "http/retry_after.h"

namespace recourse::runner {
namespace {

using http::Answer;
using http::CallFailed;
using http::CallTrouble;
using policy::Category;
using policy::Decision;

constexpr std::size_t kExcerptCharactersMax = 500;
// Of a snooze that does not say.
constexpr Duration kSnoozeOtherwise = std::chrono::minutes(1);

std::string excerpt_of(const Answer& answer) {
  std::string text = one_line(answer.body, kExcerptCharactersMax);
  return text.empty() ? "without a body" : text;
}

std::optional<Duration> retry_after_of(const Answer& answer, TimePoint now) {
  const auto header = answer.headers.find("retry-after");
  return header ? http::parse_retry_after(*header, now) : std::nullopt;
}

std::optional<Duration> lease_of(const Answer& answer) {
  const auto header = answer.headers.find("recourse-lease");
  if (!header) return std::nullopt;
  std::uint32_t seconds = 0;
  const auto* const end = header->data() + header->size();
  const auto read = std::from_chars(header->data(), end, seconds);
  if (read.ec == std::errc() && read.ptr == end) return std::chrono::seconds(seconds);
  const Result<Duration> duration = parse_duration("Recourse-Lease", *header);
  return duration ? std::optional(*duration) : std::nullopt;
}

Decision decision_of(policy::Outcome outcome, std::string code, std::string message) {
  Decision decision;
  decision.outcome = outcome;
  decision.code = std::move(code);
  decision.message = std::move(message);
  return decision;
}

engine::AttemptResult judge_word(std::string_view word, const Answer& answer, TimePoint now) {
  const std::string reason = fmt::format("HTTP {} {}", answer.status, excerpt_of(answer));
  if (word == "done") return engine::Succeeded{};
  if (word == "retry" || word == "snooze") {
    const auto asked_for = retry_after_of(answer, now);
    Decision again =
        policy::retry(Category::kBizRetryable, word == "retry" ? "DECLINED" : "SNOOZED", reason);
    again.uses_retry = word == "retry";
    if (word == "retry") {
      again.retry_after = asked_for;
    } else {
      const Duration wait = asked_for.value_or(Duration::zero());
      again.snooze = wait > Duration::zero() ? wait : kSnoozeOtherwise;
    }
    return engine::Decided{std::move(again)};
  }
  if (word == "dead") {
    return engine::Decided{policy::dead_letter(Category::kBiz4xx, "DEAD_LETTER", reason)};
  }
  if (word == "failed") {
    return engine::Decided{decision_of(policy::Outcome::kFailed, "FAILED", reason)};
  }
  if (word == "cancelled") {
    return engine::Decided{decision_of(policy::Outcome::kCancelled, "CANCELLED", reason)};
  }
  return engine::Decided{policy::dead_letter(
      Category::kUnknown, "UNKNOWN_OUTCOME",
      fmt::format("the answer's Recourse-Outcome must be done, retry, snooze, dead, failed or "
                  "cancelled, not {}; {}",
                  shown(word), reason))};
}

Judgement judge(const Answer& answer, TimePoint now) {
  if (const auto word = answer.headers.find("recourse-outcome")) {
    return judge_word(http::in_lower_case(*word), answer, now);
  }
  if (answer.status == 202) return AnswersLater{.lease = lease_of(answer)};
  if (answer.status >= 200 && answer.status < 300)
    return engine::AttemptResult(engine::Succeeded{});
  std::string reason = excerpt_of(answer);
  if (answer.status >= 300 && answer.status < 400) {
    reason = "redirects are not followed: give the URL that it leads to; the answer: " + reason;
  }
  return engine::AttemptResult(
      engine::Failed{policy::HttpAnswer{.status = answer.status,
                                        .reason = std::move(reason),
                                        .retry_after = retry_after_of(answer, now)}});
}

engine::AttemptResult judge(const CallFailed& failed, Duration limit) {
  switch (failed.trouble) {
    case CallTrouble::kTimedOut: return engine::Failed{policy::TimedOut{limit}};
    case CallTrouble::kUnreachable: return engine::Failed{policy::Unreachable{failed.message}};
    case CallTrouble::kBroken:
      return engine::Failed{policy::Unreachable{.reason = failed.message, .was_sent = true}};
    case CallTrouble::kForbidden:
      return engine::Decided{policy::dead_letter(
          Category::kUnknown, "FORBIDDEN_CALL",
          failed.message + "; correct the kind's URL, or allow the address, then retry the task")};
    case CallTrouble::kUntrusted:
      return engine::Decided{policy::retry(
          Category::kIo, "UNTRUSTED",
          failed.message + "; renew its certificate, or name the authority that signed it")};
    case CallTrouble::kStopped: return engine::Decided{stopped_before_its_end()};
  }
  std::abort();
}

// Under the code by which the engine knows that it may have happened, and asks again first.
Decision unknown(std::string_view why, std::optional<Duration> retry_after = std::nullopt) {
  Decision decision =
      policy::retry(Category::kTimeout, std::string(policy::kTimedOut),
                    fmt::format("whether it is done already could not be found out: {}", why));
  decision.retry_after = retry_after;
  return decision;
}

}  // namespace

policy::Decision stopped_before_its_end() {
  return policy::retry(Category::kTimeout, std::string(policy::kTimedOut),
                       "stopped before its end; it may have happened all the same");
}

Judgement judge_answer(const http::CallResult& result, Duration limit, TimePoint now) {
  if (const auto* answer = std::get_if<Answer>(&result)) return judge(*answer, now);
  return judge(std::get<CallFailed>(result), limit);
}

ProbeAnswer judge_probe(const http::CallResult& result, TimePoint now) {
  if (const auto* failed = std::get_if<CallFailed>(&result)) {
    return IsUnknown{unknown(failed->message)};
  }
  const auto& answer = std::get<Answer>(result);
  switch (answer.status) {
    case 200: return IsDone{};
    case 404:
    case 409:
    case 410: return IsNotDone{};
    default:
      return IsUnknown{
          unknown(fmt::format("its probe answered HTTP {} {}", answer.status, excerpt_of(answer)),
                  retry_after_of(answer, now))};
  }
}

}  // namespace recourse::runner

// From a failure to a decision. A router asks its cases one after the other; the first that has an
// opinion decides. A new kind of error is a new case, and nothing else changes.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "policy/decision.h"
#include "policy/exception_cases.h"
#include "policy/failure.h"

namespace recourse::policy {

// Pure: looks at the failure and nothing else.
using FailureCase = std::function<std::optional<Decision>(const Failure&)>;

class FailureRouter {
 public:
  // `otherwise` is what becomes of failures no case knows. It must be valid. A decision without a
  // message gets the failure's own.
  explicit FailureRouter(const Decision& otherwise);

  // Asked after those added before it.
  FailureRouter& add(FailureCase failure_case);
  // Asked before all others: how users' own rules come first.
  FailureRouter& add_first(FailureCase failure_case);

  // A case that throws, or decides what cannot be carried out, is a bug of its author's: the task
  // goes to a person, with that as its reason. Code and message come out clean and bounded.
  [[nodiscard]] Decision decide(const Failure& failure) const;

 private:
  [[nodiscard]] Decision ask_cases(const Failure& failure) const;

  Decision otherwise_;
  std::vector<FailureCase> cases_;
};

// Unmatched means DEAD_LETTER; a setting may say otherwise.
Decision unmatched_default();

// For handlers: declined, time-outs and connections retry, HTTP answers and exceptions by their
// rules. A user's exception types go into `exceptions`, where the closest one wins over all others.
FailureRouter standard_router(ExceptionCases exceptions = standard_exception_cases());
// For messages: connection and time-out errors, and texts that speak of them, retry; the rest is
// for a person, business errors and wrong SQL alike.
FailureRouter message_router();

// 408, 425, 429 and 5xx retry and honour Retry-After; every other status is a refusal that
// repeating does not change.
std::optional<Decision> decide_http(const Failure& failure);
// Connection trouble (08), shutdown (57P), time-outs (57014), lack of resources (53) and rollbacks
// such as deadlocks (40) retry; the rest is wrong SQL or wrong data. HY000 says nothing, and is
// left to others.
std::optional<Decision> decide_sql_state(const Failure& failure);
// What a runner itself reports: declined, timed out, unreachable.
std::optional<Decision> decide_runner(const Failure& failure);

struct Keyword {
  std::string word;
  Category category;
};
// Retries where the failure's text has one of the words, in capitals or not.
FailureCase retry_on_keywords(std::vector<Keyword> keywords);

}  // namespace recourse::policy

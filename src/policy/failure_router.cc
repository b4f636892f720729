#include "policy/failure_router.h"

#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <system_error>
#include <utility>

#include "base/field_checks.h"
#include "base/invariant.h"
#include "base/text.h"

namespace recourse::policy {
namespace {

constexpr std::size_t kCodeCharactersMax = 64;

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

std::string lower(std::string text) {
  std::ranges::transform(text, text.begin(), [](char c) { return lower(c); });
  return text;
}

Decision broken_case(std::string_view how, const Failure& failure) {
  return dead_letter(
      Category::kUnknown, "CLASSIFIER_ERROR",
      fmt::format("a failure case {}; the failure was: {}", how, describe(failure).message));
}

Category category_of_status(int status) {
  if (status == 408) return Category::kTimeout;
  if (status == 429) return Category::kRateLimited;
  return Category::kBizRetryable;
}

}  // namespace

FailureRouter::FailureRouter(const Decision& otherwise) : otherwise_(checked(otherwise)) {}

FailureRouter& FailureRouter::add(FailureCase failure_case) {
  invariant(failure_case != nullptr, "a failure case can be asked");
  cases_.push_back(std::move(failure_case));
  return *this;
}

FailureRouter& FailureRouter::add_first(FailureCase failure_case) {
  invariant(failure_case != nullptr, "a failure case can be asked");
  cases_.insert(cases_.begin(), std::move(failure_case));
  return *this;
}

Decision FailureRouter::decide(const Failure& failure) const {
  Decision decision = ask_cases(failure);
  if (decision.message.empty()) decision.message = describe(failure).message;
  decision.code = clean_text(decision.code, kCodeCharactersMax);
  decision.message = clean_text(decision.message, kErrorCharactersMax);
  return decision;
}

Decision FailureRouter::ask_cases(const Failure& failure) const {
  try {
    for (const FailureCase& failure_case : cases_) {
      std::optional<Decision> decision = failure_case(failure);
      if (!decision) continue;
      if (const Result<> valid = validate(*decision); !valid) {
        return broken_case("decided what cannot be: " + valid.error().message, failure);
      }
      return *std::move(decision);
    }
  } catch (...) {
    // Users write cases, and may throw anything.
    const FailureText thrown = describe(Thrown{std::current_exception()});
    return broken_case(fmt::format("threw {}: {}", thrown.type, thrown.message), failure);
  }
  return otherwise_;
}

Decision unmatched_default() { return dead_letter(Category::kUnknown, "UNMATCHED", ""); }

FailureRouter standard_router(ExceptionCases exceptions) {
  FailureRouter router(unmatched_default());
  router.add(decide_runner).add(decide_http).add(decide_sql_state).add(std::move(exceptions));
  return router;
}

FailureRouter message_router() {
  FailureRouter router(unmatched_default());
  ExceptionCases connections;
  connections.on<std::system_error>([](const std::system_error& error) {
    return retry(Category::kIo, "IO_ERROR", error.what());
  });
  router.add([](const Failure& failure) -> std::optional<Decision> {
    // A handler that declines is the business speaking; only its words can make it retryable.
    if (std::holds_alternative<Declined>(failure)) return std::nullopt;
    return decide_runner(failure);
  });
  router.add([](const Failure& failure) -> std::optional<Decision> {
    const auto* const sql = std::get_if<SqlFailure>(&failure);
    if (sql == nullptr || !sql->state.starts_with("08")) return std::nullopt;
    return decide_sql_state(failure);
  });
  router.add(decide_http).add(std::move(connections));
  router.add(retry_on_keywords({{"timeout", Category::kTimeout},
                                {"timed out", Category::kTimeout},
                                {"connection", Category::kIo},
                                {"network", Category::kIo}}));
  return router;
}

std::optional<Decision> decide_http(const Failure& failure) {
  const auto* const answer = std::get_if<HttpAnswer>(&failure);
  if (answer == nullptr) return std::nullopt;
  const int status = answer->status;
  const bool again = status == 408 || status == 425 || status == 429 || status >= 500;
  Decision decision =
      again ? retry(category_of_status(status), "", "") : dead_letter(Category::kBiz4xx, "", "");
  decision.code = fmt::format("HTTP_{}", status);
  decision.message = describe(failure).message;
  if (again && answer->retry_after) {
    // The downstream's word, whatever it is: a date in the past, or one in the next century.
    decision.retry_after = std::clamp(*answer->retry_after, Duration::zero(), kLongestWait);
  }
  return decision;
}

std::optional<Decision> decide_sql_state(const Failure& failure) {
  const auto* const sql = std::get_if<SqlFailure>(&failure);
  if (sql == nullptr) return std::nullopt;
  const std::string_view state = sql->state;
  const std::string message = describe(failure).message;
  if (state.starts_with("08") || state.starts_with("57P")) {
    return retry(Category::kIo, "SQL_CONNECTION", message);
  }
  if (state == "57014") return retry(Category::kTimeout, "SQL_TIMEOUT", message);
  if (state.starts_with("40") || state.starts_with("53")) {
    return retry(Category::kBizRetryable, "SQL_RETRYABLE", message);
  }
  if (state.empty() || state == "HY000") return std::nullopt;
  return dead_letter(Category::kUnknown, "SQL_ERROR", message);
}

std::optional<Decision> decide_runner(const Failure& failure) {
  const std::string message = describe(failure).message;
  if (std::holds_alternative<Declined>(failure)) {
    return retry(Category::kBizRetryable, "DECLINED", message);
  }
  if (std::holds_alternative<TimedOut>(failure))
    return retry(Category::kTimeout, std::string(kTimedOut), message);
  if (const auto* unreachable = std::get_if<Unreachable>(&failure)) {
    return retry(Category::kIo, unreachable->was_sent ? std::string(kAnswerLost) : "UNREACHABLE",
                 message);
  }
  return std::nullopt;
}

FailureCase retry_on_keywords(std::vector<Keyword> keywords) {
  for (Keyword& keyword : keywords) keyword.word = lower(std::move(keyword.word));
  return [keywords = std::move(keywords)](const Failure& failure) -> std::optional<Decision> {
    std::string message = describe(failure).message;
    const std::string text = lower(message);
    const auto found = std::ranges::find_if(keywords, [&](const Keyword& keyword) {
      return text.find(keyword.word) != std::string::npos;
    });
    if (found == keywords.end()) return std::nullopt;
    return retry(found->category, "KEYWORD", std::move(message));
  };
}

}  // namespace recourse::policy

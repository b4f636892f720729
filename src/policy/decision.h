// What is to become of a task after a failure: the value that classifiers produce and strategies
// carry out.
#pragma once

#include <array>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "base/time.h"

namespace recourse::policy {

enum class Outcome : std::uint8_t { kRetry, kDeadLetter, kFailed, kPaused, kCancelled };

inline constexpr std::array kAllOutcomes{Outcome::kRetry, Outcome::kDeadLetter, Outcome::kFailed,
                                         Outcome::kPaused, Outcome::kCancelled};

constexpr std::string_view to_string(Outcome outcome) {
  switch (outcome) {
    case Outcome::kRetry: return "RETRY";
    case Outcome::kDeadLetter: return "DEAD_LETTER";
    case Outcome::kFailed: return "FAILED";
    case Outcome::kPaused: return "PAUSED";
    case Outcome::kCancelled: return "CANCELLED";
  }
  std::abort();
}

// What went wrong, for metrics and for the operator.
enum class Category : std::uint8_t {
  kOpenCircuit,   // the kind's breaker is open: not run
  kRateLimited,   // over the kind's rate, here or by the downstream's own word
  kBulkheadFull,  // the kind's lane has no room: not run
  kTimeout,       // no result in time; it may have happened all the same
  kIo,            // the downstream could not be reached
  kBiz4xx,        // the downstream refused the request
  kBizRetryable,  // the business said: again later
  kUnknown,
};

inline constexpr std::array kAllCategories{
    Category::kOpenCircuit, Category::kRateLimited, Category::kBulkheadFull, Category::kTimeout,
    Category::kIo,          Category::kBiz4xx,      Category::kBizRetryable, Category::kUnknown};

constexpr std::string_view to_string(Category category) {
  switch (category) {
    case Category::kOpenCircuit: return "OPEN_CIRCUIT";
    case Category::kRateLimited: return "RATE_LIMITED";
    case Category::kBulkheadFull: return "BULKHEAD_FULL";
    case Category::kTimeout: return "TIMEOUT";
    case Category::kIo: return "IO";
    case Category::kBiz4xx: return "BIZ_4XX";
    case Category::kBizRetryable: return "BIZ_RETRYABLE";
    case Category::kUnknown: return "UNKNOWN";
  }
  std::abort();
}

// Codes of failures after which the work may have happened all the same: a probe is asked first.
inline constexpr std::string_view kTimedOut = "TIMEOUT";
inline constexpr std::string_view kAnswerLost = "ANSWER_LOST";
constexpr bool leaves_in_doubt(std::string_view code) {
  return code == kTimedOut || code == kAnswerLost;
}

struct Decision {
  Outcome outcome = Outcome::kDeadLetter;
  Category category = Category::kUnknown;
  // Retry on the node that has it, which saves a claim; others only get it if that node dies.
  bool prefer_sticky = false;
  // The backoff times this.
  double backoff_factor = 1.0;
  // The downstream's own wish (Retry-After): waited for at least, up to the backoff's maximum.
  std::optional<Duration> retry_after{};
  // Exactly this wait instead of any backoff: a handler that snoozes knows what it waits for.
  std::optional<Duration> snooze{};
  // False where nothing was attempted, or where the attempt shall not count.
  bool uses_retry = true;
  std::string code{};     // a fixed word to search and count by
  std::string message{};  // for people

  friend bool operator==(const Decision&, const Decision&) = default;
};

// Whether it speaks against the downstream. One that refuses a bad request is well, and so is one
// that asks for patience: neither opens a breaker.
constexpr bool blames_downstream(const Decision& decision) {
  if (decision.outcome == Outcome::kRetry) return !decision.snooze;
  return decision.outcome == Outcome::kDeadLetter && decision.category != Category::kBiz4xx;
}

// For decisions that come from outside: custom classifiers, handlers' answers.
Result<> validate(const Decision& decision);

// An attempt failed; trying again is likely to help.
Decision retry(Category category, std::string code, std::string message);
// Trying again heals nothing: a person looks at it.
Decision dead_letter(Category category, std::string code, std::string message);
// Not attempted, because that would only add to the trouble (LOAD-3): back to the store for longer
// than usual, where a node in better shape may take it, and no retry is used up.
Decision put_off(Category category, std::string message, double factor = 4.0);

}  // namespace recourse::policy

// What a handler answers.
//
//   return recourse::done();
//   return recourse::retry("points service refused");
//   return recourse::snooze(10min);               // later, without using up a retry
//   return recourse::dead_letter("no such member"); // a person looks at it
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "recourse/time.h"

namespace recourse {

enum class OutcomeKind : std::uint8_t {
  kDone,
  kRetry,
  kSnooze,
  kDeadLetter,
  kFailed,
  kPaused,
  kCancelled,
};

struct Outcome {
  OutcomeKind kind = OutcomeKind::kDone;
  // A fixed word to search and count by.
  std::string code;
  // For people.
  std::string reason;
  // Of a snooze: how long. Of a retry: at least how long.
  std::optional<Duration> wait;

  // True: done. False: retry. Implicit, so that a handler may answer a bool.
  // NOLINTNEXTLINE(google-explicit-constructor)
  Outcome(bool ok) : kind(ok ? OutcomeKind::kDone : OutcomeKind::kRetry) {
    if (!ok) {
      code = "DECLINED";
      reason = "the handler answered false";
    }
  }
  Outcome(OutcomeKind k, std::string c, std::string r, std::optional<Duration> w = std::nullopt)
      : kind(k), code(std::move(c)), reason(std::move(r)), wait(w) {}
};

inline Outcome done() { return true; }
// Tried again by the kind's backoff, until the retries are used up.
inline Outcome retry(std::string reason, std::string code = "DECLINED") {
  return {OutcomeKind::kRetry, std::move(code), std::move(reason)};
}
// The same, but not before the downstream wants it.
inline Outcome retry_after(Duration wait, std::string reason, std::string code = "DECLINED") {
  return {OutcomeKind::kRetry, std::move(code), std::move(reason), wait};
}
// Exactly this much later, and no retry is used up.
inline Outcome snooze(Duration wait, std::string reason = "snoozed by its handler") {
  return {OutcomeKind::kSnooze, "SNOOZED", std::move(reason), wait};
}
// Trying again heals nothing: ends as dead, in front of a person.
inline Outcome dead_letter(std::string reason, std::string code = "DEAD_LETTER") {
  return {OutcomeKind::kDeadLetter, std::move(code), std::move(reason)};
}
// The business says no: ends as failed, in front of a person.
inline Outcome failed(std::string reason, std::string code = "FAILED") {
  return {OutcomeKind::kFailed, std::move(code), std::move(reason)};
}
// Held back until a person resumes it.
inline Outcome paused(std::string reason) {
  return {OutcomeKind::kPaused, "PAUSED", std::move(reason)};
}
// No longer wanted.
inline Outcome cancelled(std::string reason) {
  return {OutcomeKind::kCancelled, "CANCELLED", std::move(reason)};
}

}  // namespace recourse

// What a handler answers.
//
//   return recourse::done();
//   return recourse::retry("points service refused");
//   return recourse::snooze(10min);               // later, without using up a retry
//   return recourse::dead_letter("no such member"); // a person looks at it
//   return recourse::done().then({.kind = "send-mail", .payload = text});  // and what follows
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "recourse/codec.h"
#include "recourse/options.h"
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
  // Submitted before the task ends with this answer.
  std::vector<Submission> follow_ups;

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

  // One more task that follows from this one, of an answer that ends it: done, dead_letter, failed,
  // cancelled. Where the end is recorded, the follow-up exists; each is made once however often the
  // task runs (the first answer counts), because its id follows from the task's own. At most 100.
  Outcome& then(Submission next) & {
    follow_ups.push_back(std::move(next));
    return *this;
  }
  Outcome then(Submission next) && {
    follow_ups.push_back(std::move(next));
    return std::move(*this);
  }
  template <class T>
    requires(!std::is_convertible_v<T, std::string_view>)
  Outcome& then(std::string_view next, const T& payload, SubmitOptions options = {}) & {
    return then({std::string(next), Codec<T>::encode(payload), std::move(options)});
  }
  template <class T>
    requires(!std::is_convertible_v<T, std::string_view>)
  Outcome then(std::string_view next, const T& payload, SubmitOptions options = {}) && {
    return std::move(*this).then(
        Submission{std::string(next), Codec<T>::encode(payload), std::move(options)});
  }
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

// What people are told of, and how much it matters.
#pragma once

#include <array>
#include <cstdint>
#include <cstdlib>
#include <string_view>

namespace recourse::notify {

enum class Event : std::uint8_t {
  kDeadLetter,          // ended badly, and waits for a person
  kMaxRetryReached,     // the same, because its retries ran out
  kNonRetryableFailed,  // the same, because a rule decided `failed`
  kTakeover,            // another node went on with what a dead one had
  kLeaseRenewFailed,
  kPersistFailed,  // an outcome could not be written
  kEngineError,
  kBreakerOpened,
  kBreakerClosed,
  kAlertFired,
  kAlertCleared,
  kTest,  // somebody tries a channel
};

inline constexpr std::array kAllEvents{
    Event::kDeadLetter,  Event::kMaxRetryReached,  Event::kNonRetryableFailed,
    Event::kTakeover,    Event::kLeaseRenewFailed, Event::kPersistFailed,
    Event::kEngineError, Event::kBreakerOpened,    Event::kBreakerClosed,
    Event::kAlertFired,  Event::kAlertCleared,     Event::kTest};

constexpr std::string_view to_string(Event event) {
  switch (event) {
    case Event::kDeadLetter: return "dead_letter";
    case Event::kMaxRetryReached: return "max_retry_reached";
    case Event::kNonRetryableFailed: return "non_retryable_failed";
    case Event::kTakeover: return "takeover";
    case Event::kLeaseRenewFailed: return "lease_renew_failed";
    case Event::kPersistFailed: return "persist_failed";
    case Event::kEngineError: return "engine_error";
    case Event::kBreakerOpened: return "breaker_opened";
    case Event::kBreakerClosed: return "breaker_closed";
    case Event::kAlertFired: return "alert_fired";
    case Event::kAlertCleared: return "alert_cleared";
    case Event::kTest: return "test";
  }
  std::abort();
}

// In rising order: settings say "from this one on".
enum class Severity : std::uint8_t { kInfo, kWarning, kError, kCritical };

inline constexpr std::array kAllSeverities{Severity::kInfo, Severity::kWarning, Severity::kError,
                                           Severity::kCritical};

constexpr std::string_view to_string(Severity severity) {
  switch (severity) {
    case Severity::kInfo: return "info";
    case Severity::kWarning: return "warning";
    case Severity::kError: return "error";
    case Severity::kCritical: return "critical";
  }
  std::abort();
}

// Where neither the settings nor whoever noticed it say otherwise: a takeover that failed is an
// error, many lost renewals at once are critical.
constexpr Severity default_severity(Event event) {
  switch (event) {
    case Event::kDeadLetter:
    case Event::kMaxRetryReached:
    case Event::kNonRetryableFailed:
    case Event::kPersistFailed: return Severity::kError;
    case Event::kEngineError: return Severity::kCritical;
    case Event::kTakeover:
    case Event::kLeaseRenewFailed:
    case Event::kBreakerOpened:
    case Event::kAlertFired: return Severity::kWarning;
    case Event::kBreakerClosed:
    case Event::kAlertCleared:
    case Event::kTest: return Severity::kInfo;
  }
  std::abort();
}

}  // namespace recourse::notify

#include "guard/rules.h"

#include <algorithm>
#include <cstdlib>

namespace recourse::guard {
namespace {

constexpr Duration kSecond = std::chrono::seconds(1);
// Of a claim, beyond a run's own time.
constexpr Duration kClaimMargin = std::chrono::seconds(2);

bool has_status(const Row& row, ErrStatus status) {
  return row.err_status == static_cast<std::int32_t>(status);
}

// Less than a second is a mistake in the row: it would be due again before anybody has looked.
Duration interval_of(const Row& row, const GuardSettings& settings) {
  return std::max(row.min_interval.value_or(settings.min_interval), kSecond);
}

}  // namespace

Duration window_of(const Row& row, const GuardSettings& settings) {
  return row.timeout.value_or(settings.timeout_window);
}

Standing standing_of(const Row& row, const GuardSettings& settings, TimePoint now) {
  if (!has_status(row, ErrStatus::kWaiting)) return Standing::kNotWaiting;
  if (row.business_status == settings.success_value) return Standing::kAlreadySuccess;
  if (row.business_status != settings.fail_value) return Standing::kOtherStatus;
  if (!row.next_retry || *row.next_retry <= now) return Standing::kDue;
  return is_given_up(row, settings, now) ? Standing::kPastWindow : Standing::kLater;
}

std::string_view explain(Standing standing) {
  switch (standing) {
    case Standing::kDue: return "due: the next scan retries it";
    case Standing::kNotWaiting: return "err_status is not 4000, so nobody retries it";
    case Standing::kLater:
      return "its err_next_retry_time has not come: it waits, or somebody runs it right now";
    case Standing::kOtherStatus:
      return "its business status is not the guard's fail value, so it is left alone: correct the "
             "status, or the guard's fail value";
    case Standing::kAlreadySuccess:
      return "its business status is the success value: the next scan writes 2001";
    case Standing::kPastWindow:
      return "its window is over: the next scan gives it to a person (4001)";
  }
  std::abort();
}

std::string_view explain_not_waiting(std::optional<std::int32_t> err_status) {
  switch (static_cast<ErrStatus>(err_status.value_or(2000))) {
    case ErrStatus::kNormal:
      return "nothing is known to be wrong with it: guard mark makes it wait for retries";
    case ErrStatus::kHealedItself:
      return "it has healed: should it fail again, guard mark makes it wait for retries";
    case ErrStatus::kHealedByPerson:
      return "a person has ended it: should it fail again, guard mark makes it wait for retries";
    case ErrStatus::kNeedsPerson:
      return "it waits for a person: guard retry has it tried once more, guard success ends it";
    case ErrStatus::kWaiting: break;
  }
  return "its err_status is none of the guard's codes, so it is left alone: 2000 says that it is "
         "well, 4000 that it waits for retries";
}

bool is_past_window(const Row& row, const GuardSettings& settings, TimePoint now) {
  if (!row.start_time) return false;
  return saturating_add(*row.start_time, window_of(row, settings)) <= now;
}

Duration hold_of(const GuardSettings& settings) { return settings.attempt_timeout + kClaimMargin; }

TimePoint last_claim_end(const GuardSettings& settings, TimePoint now) {
  return whole_seconds_up(saturating_add(now, hold_of(settings)));
}

Duration grace_of(const GuardSettings& settings) { return hold_of(settings) * 2; }

bool is_given_up(const Row& row, const GuardSettings& settings, TimePoint now) {
  if (!is_past_window(row, settings, now)) return false;
  if (row.next_retry && *row.next_retry > last_claim_end(settings, now)) return true;
  return is_past_window(row, settings, now - grace_of(settings));
}

AfterFailure after_failure(const Row& row, const GuardSettings& settings, TimePoint now) {
  const int retries = std::max(row.retries, 0);
  if (retries >= settings.max_retries || is_past_window(row, settings, now)) {
    return {.next_retry = std::nullopt, .retries = retries};
  }
  const Duration wait =
      std::min(saturating_multiply(interval_of(row, settings), retries + 1), kLongestWait);
  return {.next_retry = whole_seconds_up(now + wait), .retries = retries + 1};
}

TimePoint next_reminder(const Row& row, const GuardSettings& settings, TimePoint now) {
  const Duration wait = saturating_multiply(
      settings.remind_every, static_cast<Duration::rep>(std::max(row.notify_count, 0)) + 1);
  return whole_seconds_up(now + std::min(wait, kLongestWait));
}

TimePoint whole_seconds_up(TimePoint time) { return std::chrono::ceil<std::chrono::seconds>(time); }

}  // namespace recourse::guard

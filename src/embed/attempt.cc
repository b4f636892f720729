#include "recourse/attempt.h"

#include <algorithm>
#include <cmath>

#include "base/text.h"
#include "embed/attempt_access.h"
#include "engine/core/held_task.h"
#include "store/limits.h"

namespace recourse {

std::string Attempt::id() const { return task::to_string(impl_->run->task().id); }
const std::string& Attempt::kind() const { return impl_->run->task().spec.kind.value; }
const std::string& Attempt::tenant() const { return impl_->run->task().spec.tenant.value; }
const std::string& Attempt::payload() const { return impl_->run->task().spec.payload; }
const std::map<std::string, std::string>& Attempt::headers() const {
  return impl_->run->task().spec.headers;
}
const std::string& Attempt::trace_parent() const { return impl_->run->task().spec.trace_parent; }
int Attempt::number() const { return impl_->run->start().number; }
int Attempt::retries() const { return impl_->run->task().retries; }
int Attempt::max_retries() const { return impl_->run->task().spec.max_retries; }
std::int64_t Attempt::fence() const { return impl_->run->task().ticket.fence.value; }
std::string Attempt::last_error() const {
  const auto& error = impl_->run->task().last_error;
  return error ? error->message : "";
}
std::stop_token Attempt::stop_token() const { return impl_->run->stop_token(); }

void Attempt::note(std::string_view text) const {
  if (text.empty()) return;
  impl_->run->note({.progress = std::nullopt, .text = clean_text(text, store::kNoteCharactersMax)});
}

void Attempt::progress(double fraction, std::string_view text) const {
  // What is no number says nothing of how far it is.
  if (std::isnan(fraction)) return note(text);
  const double kept = std::clamp(fraction, 0.0, 1.0);
  impl_->run->note({.progress = static_cast<int>(std::lround(kept * store::kProgressMax)),
                    .text = clean_text(text, store::kNoteCharactersMax)});
}

void Completion::complete(const Outcome& outcome) const {
  detail::AttemptAccess::complete(attempt_, outcome);
}

void detail::AttemptAccess::complete(const Attempt& attempt, const Outcome& outcome) {
  engine::AttemptRun& run = *attempt.impl_->run;
  auto follow_ups = embed::follow_ups_of(outcome, run.task(), *attempt.impl_->answering);
  if (follow_ups) {
    run.complete(embed::result_of(outcome), *std::move(follow_ups));
    return;
  }
  run.complete(engine::Decided{policy::dead_letter(policy::Category::kUnknown,
                                                   std::string(engine::kFollowUpInvalid),
                                                   follow_ups.error().message)});
}

}  // namespace recourse

namespace recourse::embed {

engine::AttemptResult result_of(const Outcome& outcome) {
  policy::Decision decision;
  decision.code = outcome.code;
  decision.message = outcome.reason;
  switch (outcome.kind) {
    case OutcomeKind::kDone: return engine::Succeeded{};
    case OutcomeKind::kRetry:
      decision.outcome = policy::Outcome::kRetry;
      decision.category = policy::Category::kBizRetryable;
      decision.prefer_sticky = true;
      decision.retry_after = outcome.wait;
      break;
    case OutcomeKind::kSnooze:
      decision.outcome = policy::Outcome::kRetry;
      decision.category = policy::Category::kBizRetryable;
      decision.prefer_sticky = true;
      decision.uses_retry = false;
      decision.snooze = outcome.wait;
      break;
    case OutcomeKind::kDeadLetter: decision.outcome = policy::Outcome::kDeadLetter; break;
    case OutcomeKind::kFailed: decision.outcome = policy::Outcome::kFailed; break;
    case OutcomeKind::kPaused: decision.outcome = policy::Outcome::kPaused; break;
    case OutcomeKind::kCancelled: decision.outcome = policy::Outcome::kCancelled; break;
  }
  if (const Result<> valid = policy::validate(decision); !valid) {
    return engine::Decided{policy::dead_letter(
        policy::Category::kUnknown, "HANDLER_ERROR",
        "the handler's answer cannot be carried out: " + valid.error().message)};
  }
  return engine::Decided{std::move(decision)};
}

}  // namespace recourse::embed

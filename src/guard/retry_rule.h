// When the engine runs a row's task again: exactly when the row is due, because the row is the
// truth and the task only runs it. Put off by a breaker, a rate or a full lane, it waits as any
// other task does.
#pragma once

#include <string_view>

#include "base/time.h"
#include "engine/core/rules.h"
#include "guard/settings.h"
#include "policy/decision.h"
#include "policy/strategy.h"

namespace recourse::guard {

// --- what a run of a row decides ---
// It failed, and is due again so much later.
policy::Decision again_in(Duration wait, std::string_view code, std::string error);
// It is not due yet, or somebody else runs it: nothing was tried.
policy::Decision not_before(Duration wait, std::string why);
// It failed, and is with a person now. The task ends; telling people is the row's own business, so
// that nobody is told twice.
policy::Decision with_a_person(std::string error);
// It needs no run of ours.
policy::Decision not_ours(std::string why);
// Of those that tried nothing.
bool has_tried_nothing(std::string_view code);

// Never gives up: when a row has had enough of it is written in the row. `otherwise` is the wait
// after a run that did not say, such as one that overran its time.
policy::Strategy retry_strategy(Duration otherwise);

// Of the kind `guard.NAME`.
engine::KindRules kind_rules(const GuardSettings& guard, engine::KindSettings kind);

}  // namespace recourse::guard

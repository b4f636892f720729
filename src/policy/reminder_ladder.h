// When to remind a person again of what still waits for them: each pause longer than the one before
// by the interval, so that nobody is pestered and nothing is forgotten.
#pragma once

#include "base/result.h"
#include "base/time.h"

namespace recourse::policy {

struct ReminderSettings {
  Duration interval = std::chrono::hours(1);
};

Result<> validate(const ReminderSettings& settings);

// After the reminder that goes out `now`, with `sent` before it: interval x (sent + 1).
TimePoint next_reminder(const ReminderSettings& settings, TimePoint now, int sent);

}  // namespace recourse::policy

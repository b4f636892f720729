#include "policy/reminder_ladder.h"

#include <algorithm>

#include "base/field_checks.h"

namespace recourse::policy {

Result<> validate(const ReminderSettings& settings) {
  using namespace std::chrono_literals;
  return FieldChecks("reminder")
      .between<Duration>("interval", settings.interval, 1s, 24h * 365)
      .result();
}

TimePoint next_reminder(const ReminderSettings& settings, TimePoint now, int sent) {
  const Duration::rep step = Duration::rep{std::max(sent, 0)} + 1;
  return saturating_add(now, saturating_multiply(settings.interval, step));
}

}  // namespace recourse::policy

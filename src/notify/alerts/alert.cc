#include "notify/alerts/alert.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/field_checks.h"
#include "task/kind_name.h"

namespace recourse::notify {
namespace {

std::string of_kinds(const AlertDefinition& alert) {
  return alert.kinds.empty() ? "" : fmt::format(" of {}", fmt::join(alert.kinds, ", "));
}

}  // namespace

Result<> validate(const AlertDefinition& alert) {
  using namespace std::chrono_literals;
  if (Result<> rule = policy::validate(alert.rule); !rule) return rule;
  return FieldChecks("alert")
      .between<Duration>("within", alert.within, 10s, 24h)
      .between("min_attempts", alert.min_attempts, 1, 1'000'000)
      .result();
}

bool counts(const AlertDefinition& alert, std::string_view kind) {
  return alert.kinds.empty() || std::ranges::any_of(alert.kinds, [&](const std::string& name) {
           return task::fits(name, kind);
         });
}

std::string subject_of(const AlertDefinition& alert) {
  const std::string kinds = of_kinds(alert);
  const std::string within = format_duration(alert.within);
  switch (alert.figure) {
    case AlertFigure::kCount: return fmt::format("{} tasks{}", to_string(alert.state), kinds);
    case AlertFigure::kBacklog: return fmt::format("tasks{} that are due", kinds);
    case AlertFigure::kOldestDue:
      return fmt::format("the seconds that the oldest due task{} has waited", kinds);
    case AlertFigure::kFailureRate:
      return fmt::format("the share of attempts{} that failed within {}", kinds, within);
    case AlertFigure::kTakeovers:
      return fmt::format("tasks taken over from dead nodes within {}", within);
    case AlertFigure::kLostNodes: return fmt::format("nodes lost within {}", within);
    case AlertFigure::kLiveNodes: return "live nodes";
    case AlertFigure::kSilence: return "the seconds without a heartbeat of any node";
    case AlertFigure::kStalled: return "the seconds that this node's scheduler has not moved";
  }
  std::abort();
}

}  // namespace recourse::notify

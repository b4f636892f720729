#include "policy/alert_rule.h"

#include <cmath>
#include <limits>

#include "base/field_checks.h"

namespace recourse::policy {

Result<> validate(const AlertSettings& settings) {
  using namespace std::chrono_literals;
  constexpr Duration kLongest = 24h * 30;
  constexpr double kFigureMax = 1e15;
  const bool above = settings.side == AlertSide::kAbove;
  return FieldChecks("alert")
      .between("fire_at", settings.fire_at, -kFigureMax, kFigureMax)
      .between("clear_at", settings.clear_at, -kFigureMax, kFigureMax)
      .require(above ? settings.clear_at < settings.fire_at : settings.clear_at > settings.fire_at,
               "clear_at",
               above ? "must be less than alert.fire_at" : "must be more than alert.fire_at")
      .between("fire_after", settings.fire_after, Duration::zero(), kLongest)
      .between("clear_after", settings.clear_after, Duration::zero(), kLongest)
      .result();
}

AlertRule::AlertRule(const AlertSettings& settings) : settings_(checked(settings)) {}

void AlertRule::assume(bool firing) {
  if (firing == firing_) return;
  firing_ = firing;
  since_.reset();
}

std::optional<AlertChange> AlertRule::observe(TimePoint now, double figure) {
  if (std::isnan(figure)) return std::nullopt;
  if (!points_to_change(figure)) {
    since_.reset();
    return std::nullopt;
  }
  if (!since_) since_ = now;
  if (now - *since_ < (firing_ ? settings_.clear_after : settings_.fire_after)) return std::nullopt;
  since_.reset();
  firing_ = !firing_;
  return firing_ ? AlertChange::kFired : AlertChange::kCleared;
}

bool AlertRule::points_to_change(double figure) const {
  const bool above = settings_.side == AlertSide::kAbove;
  if (firing_) return above ? figure <= settings_.clear_at : figure >= settings_.clear_at;
  return above ? figure >= settings_.fire_at : figure <= settings_.fire_at;
}

}  // namespace recourse::policy

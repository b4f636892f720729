#include "policy/batch_controller.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/field_checks.h"

namespace recourse::policy {
namespace {

int scaled(int batch, double factor) { return static_cast<int>(std::lround(batch * factor)); }

std::string explain(const Load& load, std::string_view verdict) {
  return fmt::format("executor queue {:.0f}% full, wheel {:.0f}% full: {}",
                     load.executor_queue * 100, load.wheel * 100, verdict);
}

}  // namespace

Result<> validate(const BatchSettings& settings) {
  return FieldChecks("batch")
      .between("min", settings.min, 1, 100'000)
      .between("max", settings.max, 1, 100'000)
      .require(settings.min <= settings.max, "min", "must not be more than batch.max")
      .between("initial", settings.initial, 1, 100'000)
      .between("pressure_at", settings.pressure_at, 0.01, 1.0)
      .between("calm_at", settings.calm_at, 0.0, 1.0)
      .require(settings.calm_at < settings.pressure_at, "calm_at",
               "must be less than batch.pressure_at")
      .between("shrink_to", settings.shrink_to, 0.01, 0.99)
      .between("grow_by", settings.grow_by, 0.01, 1.0)
      .result();
}

BatchController::BatchController(const BatchSettings& settings)
    : settings_(checked(settings)),
      batch_(std::clamp(settings.initial, settings.min, settings.max)) {}

std::optional<BatchChange> BatchController::observe(const Load& load) {
  const double fullest = std::max(load.executor_queue, load.wheel);
  int wanted = batch_;
  std::string_view verdict;
  if (fullest >= settings_.pressure_at) {
    // At least one fewer, and one more below: rounding must not hold it where it is.
    wanted = std::min(batch_ - 1, scaled(batch_, settings_.shrink_to));
    verdict = "under pressure";
  } else if (fullest <= settings_.calm_at) {
    wanted = std::max(batch_ + 1, scaled(batch_, 1 + settings_.grow_by));
    verdict = "calm";
  }
  wanted = std::clamp(wanted, settings_.min, settings_.max);
  if (wanted == batch_) return std::nullopt;
  last_change_ = BatchChange{batch_, wanted, explain(load, verdict)};
  batch_ = wanted;
  return last_change_;
}

}  // namespace recourse::policy

// Fires when a figure stays on the wrong side of a limit, clears when it stays well on the right
// side, and keeps quiet while it wavers between the two.
//
// Thread safety: none.
#pragma once

#include <array>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <string_view>

#include "base/result.h"
#include "base/time.h"

namespace recourse::policy {

enum class AlertSide : std::uint8_t {
  kAbove,  // bad when large: dead letters, backlog, failure rate
  kBelow,  // bad when small: live nodes, success rate
};

inline constexpr std::array kAllAlertSides{AlertSide::kAbove, AlertSide::kBelow};

constexpr std::string_view to_string(AlertSide side) {
  switch (side) {
    case AlertSide::kAbove: return "above";
    case AlertSide::kBelow: return "below";
  }
  std::abort();
}

struct AlertSettings {
  AlertSide side = AlertSide::kAbove;
  // At this or beyond it: bad.
  double fire_at = 1;
  // At this or before it: good. The gap between the two is the hysteresis.
  double clear_at = 0;
  // How long it must have been bad, or good, without a break.
  Duration fire_after = Duration::zero();
  Duration clear_after = Duration::zero();
};

Result<> validate(const AlertSettings& settings);

enum class AlertChange : std::uint8_t { kFired, kCleared };

class AlertRule {
 public:
  // The settings must be valid.
  explicit AlertRule(const AlertSettings& settings);

  // Somebody else has decided on its state: the next figures count from there.
  void assume(bool firing);

  // A figure that is not a number is no news and changes nothing.
  std::optional<AlertChange> observe(TimePoint now, double figure);

  [[nodiscard]] bool firing() const { return firing_; }

 private:
  [[nodiscard]] bool points_to_change(double figure) const;

  AlertSettings settings_;
  bool firing_ = false;
  // Since when every figure has pointed to the other state.
  std::optional<TimePoint> since_;
};

}  // namespace recourse::policy

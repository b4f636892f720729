// How an alert stands, for all nodes: a record that each change of it replaces, so that of several
// nodes that see the same one of them tells people.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/time.h"
#include "notify/alerts/alert.h"
#include "notify/case_notice.h"
#include "notify/notice.h"

namespace recourse::notify {

// In the store's records.
inline constexpr std::string_view kAlertSpace = "alert";

struct AlertState {
  bool firing = false;
  // Since when it has been so.
  TimePoint since = {};
  // Of this change: the id of what people are told, whoever tells it.
  std::string id = {};
  // What the figure was then.
  double figure = 0;
  // Who saw it.
  std::string node = {};
  bool told = false;
  // Until then somebody is telling it; then it may have died.
  TimePoint held_until = {};
  TimePoint written_at = {};

  friend bool operator==(const AlertState&, const AlertState&) = default;
};

std::string to_value(const AlertState& state);
// Empty where it is not one of ours.
std::optional<AlertState> parse_alert_state(std::string_view value);

// The record's name: of a figure that only a node knows, the node's own.
std::string record_name(const AlertDefinition& alert, std::string_view node);

Notice notice_of(const AlertDefinition& alert, const AlertState& state, const Sayer& sayer);

}  // namespace recourse::notify

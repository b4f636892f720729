#include "notify/alerts/alert_state.h"

#include <fmt/format.h>

#include <boost/json.hpp>

#include "store/records.h"

namespace recourse::notify {
namespace {

std::int64_t micros(TimePoint time) { return time.time_since_epoch().count(); }
TimePoint moment(const boost::json::value& micros) {
  return TimePoint(Duration(micros.to_number<std::int64_t>()));
}

// What crossed the line: 120 is short for 120.000000, 0.25 stays as it is.
std::string shown_figure(double figure) { return fmt::format("{:.6g}", figure); }

}  // namespace

std::string to_value(const AlertState& state) {
  return boost::json::serialize(boost::json::object{{"firing", state.firing},
                                                    {"since", micros(state.since)},
                                                    {"id", state.id},
                                                    {"figure", state.figure},
                                                    {"node", state.node},
                                                    {"told", state.told},
                                                    {"held_until", micros(state.held_until)},
                                                    {"written_at", micros(state.written_at)}});
}

std::optional<AlertState> parse_alert_state(std::string_view value) {
  try {
    const boost::json::value parsed = boost::json::parse(value);
    return AlertState{.firing = parsed.at("firing").as_bool(),
                      .since = moment(parsed.at("since")),
                      .id = std::string(parsed.at("id").as_string()),
                      .figure = parsed.at("figure").to_number<double>(),
                      .node = std::string(parsed.at("node").as_string()),
                      .told = parsed.at("told").as_bool(),
                      .held_until = moment(parsed.at("held_until")),
                      .written_at = moment(parsed.at("written_at"))};
  } catch (const std::exception&) {
    return std::nullopt;
  }
}

std::string record_name(const AlertDefinition& alert, std::string_view node) {
  std::string name = alert.name;
  if (is_of_one_node(alert.figure)) name += fmt::format("@{}", node);
  return name.substr(0, store::kRecordNameBytesMax);
}

Notice notice_of(const AlertDefinition& alert, const AlertState& state, const Sayer& sayer) {
  Notice notice{.id = state.id,
                .event = state.firing ? Event::kAlertFired : Event::kAlertCleared,
                .node = sayer.node,
                .reason = alert.name,
                .at = state.since};
  if (state.firing) notice.severity = alert.severity;
  if (alert.kinds.size() == 1) notice.kind = task::Kind(alert.kinds.front());
  const bool above = alert.rule.side == policy::AlertSide::kAbove;
  const double limit = state.firing ? alert.rule.fire_at : alert.rule.clear_at;
  notice.last_error =
      fmt::format("{}: {} ({} {})", subject_of(alert), shown_figure(state.figure),
                  state.firing == above ? "at or above" : "at or below", shown_figure(limit));
  notice.attributes["figure"] = shown_figure(state.figure);
  notice.attributes["limit"] = shown_figure(limit);
  if (state.node != sayer.node) notice.attributes["seen_by"] = state.node;
  return notice;
}

}  // namespace recourse::notify

// The keys of an alert: which figure, and from where on it is bad.
#include "app/config/keys.h"
#include "app/config/rows.h"
#include "app/config/text_checks.h"

namespace recourse::app {
namespace {

using namespace std::chrono_literals;

constexpr double kFigureMax = 1e12;

Keys alert_keys(AlertConfig& config) {
  notify::AlertDefinition& alert = config.alert;
  return {
      choice(
          "figure", at(alert.figure), notify::kAllAlertFigures,
          {"What is looked at: count (tasks in a state), backlog (tasks that are due), oldest_due "
           "(seconds that the oldest has been due), failure_rate (of attempts, 0 to 1), "
           "takeovers (tasks), lost_nodes, live_nodes, silence (seconds without a heartbeat of "
           "any node), stalled (seconds that this node's scheduler has not moved). "
           "failure_rate, takeovers, lost_nodes and stalled are each node's own."}),
      choice("state", at(alert.state), task::kAllStates, {"The state that count counts."}),
      list("kinds", at(alert.kinds),
           {"Of which kinds, for count, backlog, oldest_due and failure_rate; one that ends in * "
            "stands for all that begin so; all where not given.",
            Reload::kRestart, "[orders.*]"}),
      number("at-least", maybe(config.at_least), 0, kFigureMax,
             {"It is bad at this or above.", Reload::kRestart, "100"}),
      number("at-most", maybe(config.at_most), 0, kFigureMax,
             {"Instead: it is bad at this or below.", Reload::kRestart, "1"}),
      number("clear", maybe(config.clear), 0, kFigureMax,
             {"It is good again at this: below at-least (four fifths of it where not given), or "
              "above at-most (a quarter more, 1 at least). In between nothing changes.",
              Reload::kRestart, "80"}),
      duration("for", at(alert.rule.fire_after), 0us, 24h,
               {"How long it must have been bad without a break."}),
      duration("clear-for", at(alert.rule.clear_after), 0us, 24h,
               {"How long it must have been good without a break."}),
      duration("within", at(alert.within), 10s, 24h,
               {"How far back failure_rate, takeovers and lost_nodes look."}),
      integer("min-attempts", at(alert.min_attempts), 1, 1'000'000,
              {"A failure_rate of fewer attempts says nothing."}),
      choice("severity", at(alert.severity), notify::kAllSeverities,
             {"How much it matters; that it is over is told as info."}),
  };
}

}  // namespace

Key alerts_key(NotifyConfig& config) {
  Items items{.listed = true, .max = notify::kAlertsMax};
  items.add = [&config](const std::string& name) {
    for (AlertConfig& one : config.alerts) {
      if (one.alert.name == name) return alert_keys(one);
    }
    return alert_keys(config.alerts.emplace_back(AlertConfig{.alert = {.name = name}}));
  };
  items.all = [&config] {
    std::vector<std::pair<std::string, Keys>> all;
    for (AlertConfig& one : config.alerts) all.emplace_back(one.alert.name, alert_keys(one));
    return all;
  };
  items.refuse_name = [](std::string_view name) -> std::string {
    // What a node's own records are called has one behind the name.
    return name.find('@') == std::string_view::npos ? check_name(name) : "must not have an @";
  };
  return {.path = "alerts",
          .type = "a list of alerts, each with a name",
          .about = {"Figures that people are told of when they go wrong, and when they are well "
                    "again. Alerts of one name are one alert, on however many nodes."},
          .items = std::make_shared<const Items>(std::move(items))};
}

}  // namespace recourse::app

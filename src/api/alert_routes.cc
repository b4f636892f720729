// Alerts: what the configuration wants watched, and how each stands.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <utility>

#include "api/route.h"
#include "api/shapes.h"
#include "notify/alerts/alert_state.h"

namespace recourse::api {
namespace {

using boost::json::array;
using boost::json::object;
using notify::AlertDefinition;
using notify::AlertState;

using States = std::map<std::string, AlertState>;

Result<States> read_states(Desk& desk) {
  States states;
  std::optional<std::string> after;
  do {
    const auto page =
        desk.opened.records().list(notify::kAlertSpace, after, store::kPageRowsMax, kPatience);
    if (!page) return fail(page.error());
    for (const store::Record& record : page->records) {
      if (auto state = notify::parse_alert_state(record.value)) {
        states.emplace(record.name, *std::move(state));
      }
    }
    after = page->next;
  } while (after);
  return states;
}

// 100, not 1E2, which is how JSON's writer shows a double; 2.4, not 2.4000000000000004.
boost::json::value number(double figure) {
  figure = std::round(figure * 1e6) / 1e6;
  if (std::nearbyint(figure) == figure && std::abs(figure) < 1e15) {
    return static_cast<std::int64_t>(figure);
  }
  return figure;
}

object alert_shape(const AlertDefinition& alert, const AlertState* state) {
  const bool above = alert.rule.side == policy::AlertSide::kAbove;
  object shape{{"name", alert.name},
               {"figure", to_string(alert.figure)},
               {"subject", notify::subject_of(alert)},
               {above ? "at_least" : "at_most", number(alert.rule.fire_at)},
               {"clear", number(alert.rule.clear_at)},
               {"severity", to_string(alert.severity)},
               {"firing", state != nullptr && state->firing},
               {"since", nullptr},
               {"value", nullptr},
               {"node", nullptr}};
  if (state == nullptr) return shape;
  shape["since"] = to_json(state->since);
  shape["value"] = number(state->figure);
  shape["node"] = state->node;
  return shape;
}

// Of a figure that only a node knows there is one for each node that has seen a change.
void add_alert(const AlertDefinition& alert, const States& states, array& items) {
  const std::string name = notify::record_name(alert, "");
  if (!notify::is_of_one_node(alert.figure)) {
    const auto found = states.find(name);
    items.push_back(alert_shape(alert, found == states.end() ? nullptr : &found->second));
    return;
  }
  const std::size_t before = items.size();
  for (auto one = states.lower_bound(name); one != states.end() && one->first.starts_with(name);
       ++one) {
    items.push_back(alert_shape(alert, &one->second));
  }
  if (items.size() == before) items.push_back(alert_shape(alert, nullptr));
}

http::Response list_alerts(Desk& desk, const Call&) {
  const auto states = read_states(desk);
  if (!states) return refuse(states.error());
  array items;
  for (const AlertDefinition& alert : desk.alerts) add_alert(alert, *states, items);
  // What fires comes first; among equals the configuration's order stays.
  std::ranges::stable_partition(
      items, [](const boost::json::value& item) { return item.at("firing").as_bool(); });
  return json_response(object{{"items", std::move(items)}});
}

}  // namespace

std::vector<Route> alert_routes() {
  return {{http::Method::kGet, "/api/v1/alerts", Role::kViewer, Answer(list_alerts)}};
}

}  // namespace recourse::api

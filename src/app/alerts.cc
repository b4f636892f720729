#include "app/alerts.h"

#include <utility>

namespace recourse::app {

std::vector<notify::AlertDefinition> alerts_of(const NotifyConfig& config) {
  std::vector<notify::AlertDefinition> alerts;
  for (const AlertConfig& one : config.alerts) alerts.push_back(one.alert);
  return alerts;
}

void Alerts::happened(const engine::Happening& happening) {
  if (const auto* moved = std::get_if<engine::Moved>(&happening)) {
    // Without a time nothing was run.
    if (moved->took) {
      lately_.attempted(moved->kind.value, moved->to != task::State::kSucceeded, time_.now());
    }
    return;
  }
  const auto* node = std::get_if<engine::NodeHappened>(&happening);
  if (node == nullptr) return;
  if (node->event == engine::NodeEvent::kAdopted) lately_.took_over(node->count, time_.now());
  if (node->event == engine::NodeEvent::kPeerDead) lately_.lost_node(time_.now());
}

void Alerts::start(engine::Node& node, store::OpenedStore& opened, notify::AlertWatch::Fire fire,
                   notify::Sayer sayer, UlidSource& ids, const Clock& clock, Log& log) {
  if (!config_.enabled || config_.alerts.empty()) return;
  watch_ = std::make_unique<notify::AlertWatch>(
      notify::AlertWatchSettings{.alerts = alerts_of(config_),
                                 .look_every = config_.look_at_alerts_every,
                                 .sayer = std::move(sayer)},
      notify::AlertSources{.reader = opened.reader(),
                           .lately = lately_,
                           .time = time_,
                           .store_now = [&node] { return node.store_now(); },
                           .turns = [&node] { return node.turns(); }},
      opened.records(), std::move(fire), ids, clock, log);
}

}  // namespace recourse::app

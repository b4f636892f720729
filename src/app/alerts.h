// The configuration's alerts, watched by this node.
#pragma once

#include <functional>
#include <vector>

#include "app/config/notify_config.h"
#include "engine/core/happening.h"
#include "engine/node.h"
#include "notify/alerts/alert_watch.h"
#include "store/opened.h"

namespace recourse::app {

std::vector<notify::AlertDefinition> alerts_of(const NotifyConfig& config);

// All that is given must outlive it.
class Alerts {
 public:
  explicit Alerts(const NotifyConfig& config, const Clock& clock)
      : config_(config), time_(clock), lately_(alerts_of(config)) {}

  // On the engine's thread: neither blocks nor throws.
  void happened(const engine::Happening& happening);
  // Begins to look at them; nothing where notifications are switched off or there are none.
  void start(engine::Node& node, store::OpenedStore& opened, notify::AlertWatch::Fire fire,
             notify::Sayer sayer, UlidSource& ids, const Clock& clock, Log& log);
  // Looks no more; from any thread.
  void stop() {
    if (watch_ != nullptr) watch_->stop();
  }
  // After the notifier: what people were told is written down.
  void record_told() {
    if (watch_ != nullptr) watch_->record_told();
  }

 private:
  const NotifyConfig& config_;
  const SteadyTime time_;
  notify::Lately lately_;
  std::unique_ptr<notify::AlertWatch> watch_;
};

}  // namespace recourse::app

// Where an alert's figures come from: the store, this node's own counts, and whether things move.
//
// Thread safety: none.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "notify/alerts/alert.h"
#include "notify/alerts/lately.h"
#include "notify/alerts/motion.h"
#include "store/reader.h"

namespace recourse::notify {

// All of it outlives who has it.
struct AlertSources {
  store::Reader& reader;
  Lately& lately;
  // The store's time, as the node knows it.
  std::function<TimePoint()> store_now;
  // How often the node's scheduler has moved; asks it to move again.
  std::function<std::uint64_t()> turns;
};

class AlertFigures {
 public:
  AlertFigures(AlertSources sources, const Clock& clock)
      : sources_(std::move(sources)), clock_(clock), time_(clock) {}

  // In the alerts' order; not a number: there is nothing to say. The store is asked each question
  // once, and none that no alert needs.
  Result<std::vector<double>> read(const std::vector<AlertDefinition>& alerts, Duration within);

 private:
  // What the store answered in one look.
  struct Answers {
    std::optional<store::Counts> counts;
    std::optional<std::vector<store::NodeRow>> nodes;
    std::map<task::Kind, store::Backlog> backlogs;
  };

  Result<> ask(const std::vector<AlertDefinition>& alerts, Answers& answers, Duration within);
  double figure(const AlertDefinition& alert, const Answers& answers);

  const AlertSources sources_;
  const Clock& clock_;
  const SteadyTime time_;
  Motion heartbeats_;
  Motion scheduler_;
};

}  // namespace recourse::notify

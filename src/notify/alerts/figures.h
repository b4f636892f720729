// Where an alert's figures come from: the store, this node's own counts, and whether things move.
//
// Thread safety: none.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <stop_token>
#include <utility>
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
  // The same as of those who tell `lately`.
  const SteadyTime& time;
  // The store's time, as the node knows it.
  std::function<TimePoint()> store_now;
  // How often the node's scheduler has moved; asks it to move again.
  std::function<std::uint64_t()> turns;
};

class AlertFigures {
 public:
  AlertFigures(AlertSources sources, const Clock& clock)
      : sources_(std::move(sources)), clock_(clock) {}

  [[nodiscard]] TimePoint steady_now() const { return sources_.time.now(); }
  [[nodiscard]] TimePoint store_now() const { return sources_.store_now(); }

  // In the alerts' order; not a number: there is nothing to say. The store is asked each question
  // once, and none that no alert needs. kUnavailable once `stop` is asked for.
  Result<std::vector<double>> read(const std::vector<AlertDefinition>& alerts, Duration within,
                                   const std::stop_token& stop);

 private:
  // What the store answered in one look.
  struct Answers {
    std::optional<store::Counts> counts;
    std::optional<std::vector<store::NodeRow>> nodes;
    std::map<task::Kind, store::Backlog> backlogs;
  };

  Result<> ask(const std::vector<AlertDefinition>& alerts, Answers& answers, Duration within,
               const std::stop_token& stop);
  double figure(const AlertDefinition& alert, const Answers& answers);

  const AlertSources sources_;
  const Clock& clock_;
  Motion heartbeats_;
  Motion scheduler_;
};

}  // namespace recourse::notify

// One alert, as one node watches it. Pure: whoever owns it reads the figure and writes the record.
//
// Invariants
//   1. People are told of a change only by whoever wrote it, or who took it over after that one's
//      hold was over.
//   2. A change counts as told only once people were.
//   3. Nodes that see different figures for a while agree on what is stored: the next look begins
//      from there.
//
// Thread safety: none.
#pragma once

#include <algorithm>
#include <optional>
#include <string>

#include "notify/alerts/alert_state.h"
#include "policy/alert_rule.h"

namespace recourse::notify {

struct AlertTimes {
  // How long whoever tells has for it. That it was told is written with the next look.
  Duration hold = std::chrono::minutes(1);
  // A record that nobody renews is gone after this: its alert was taken out of the configuration,
  // or its node is gone.
  Duration kept = std::chrono::hours(1);
};

// Some looks fit into each.
constexpr AlertTimes times_for(Duration look_every) {
  return {.hold = std::max<Duration>(std::chrono::minutes(1), look_every * 3),
          .kept = std::max<Duration>(std::chrono::hours(1), look_every * 4)};
}

struct AlertLook {
  TimePoint steady;  // never jumps
  TimePoint wall;    // the store's, which all nodes share
  double figure;
  // What is stored; empty: nothing, so it does not fire.
  std::optional<AlertState> stored;
  // For what is told, should it change now.
  std::string fresh_id;
  std::string node;
};

struct AlertStep {
  AlertState write;
  // People are to be told once it is written.
  bool tell = false;
};

class WatchedAlert {
 public:
  // The definition must be valid.
  explicit WatchedAlert(const AlertDefinition& alert, AlertTimes times = {})
      : settings_(alert.rule), times_(times), rule_(alert.rule) {}

  // What is to be written, if anything.
  std::optional<AlertStep> look(const AlertLook& look);
  // Only that people were told, where they were: for one who stops.
  [[nodiscard]] std::optional<AlertState> told_mark(const std::optional<AlertState>& stored,
                                                    TimePoint wall) const;
  // It was written, and people are being told.
  void telling(const AlertState& written) { out_ = Out{.id = written.id}; }
  // People were told, or could not be.
  void ended(const std::string& id, bool told);

 private:
  struct Out {
    std::string id;
    // Empty while it is out.
    std::optional<bool> told = std::nullopt;
  };

  std::optional<AlertStep> go_on(const AlertLook& look);
  [[nodiscard]] double figure_of(const AlertLook& look) const;

  policy::AlertSettings settings_;
  AlertTimes times_;
  policy::AlertRule rule_;
  std::optional<Out> out_;
};

}  // namespace recourse::notify

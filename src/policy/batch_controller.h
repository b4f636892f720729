// How many tasks to claim at a time: shrinks at once when the node is under pressure, grows back in
// small steps when it is calm, and says why.
//
// Thread safety: none; the engine's core owns it.
#pragma once

#include <optional>
#include <string>

#include "base/result.h"

namespace recourse::policy {

struct BatchSettings {
  int min = 50;
  int max = 2'000;
  int initial = 200;
  // Full to this share or more: pressure. To the other or less: calm. Between them nothing changes,
  // so that the batch does not swing.
  double pressure_at = 0.8;
  double calm_at = 0.5;
  // What is left of the batch under pressure, at each look.
  double shrink_to = 0.25;
  // How much it grows when calm, at each look.
  double grow_by = 0.1;
};

Result<> validate(const BatchSettings& settings);

// How full the node is; 1 is full.
struct Load {
  double executor_queue = 0;
  double wheel = 0;
};

struct BatchChange {
  int from;
  int to;
  std::string reason;  // for the log and the status page
};

class BatchController {
 public:
  // The settings must be valid.
  explicit BatchController(const BatchSettings& settings);

  // Before each claim. Answers with the change, where there was one.
  std::optional<BatchChange> observe(const Load& load);

  // Always within [min, max].
  [[nodiscard]] int batch() const { return batch_; }
  [[nodiscard]] const std::optional<BatchChange>& last_change() const { return last_change_; }

 private:
  BatchSettings settings_;
  int batch_;
  std::optional<BatchChange> last_change_;
};

}  // namespace recourse::policy

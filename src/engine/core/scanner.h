// When to look for due tasks: every period at the latest, at once after a hint, and at the moment
// at which something that this node put into the store comes due.
//
// Thread safety: none; the core owns it.
#pragma once

#include <cstddef>
#include <set>

#include "base/time.h"
#include "engine/core/settings.h"

namespace recourse::engine {

class Scanner {
 public:
  explicit Scanner(const ScanSettings& settings) : settings_(settings) {}

  void begin(TimePoint now) { next_ = now + settings_.initial_delay; }
  void hint(TimePoint now) { next_ = std::min(next_, now); }
  // Something will be due then, by this node's clock. The nearest thousand are remembered; the
  // period finds the others.
  void expect(TimePoint due);

  [[nodiscard]] bool is_due(TimePoint now) const { return !out_ && now >= next_wakeup(); }
  void sent(TimePoint now);
  void ended() { out_ = false; }

  [[nodiscard]] TimePoint next_wakeup() const;

 private:
  ScanSettings settings_;
  TimePoint next_ = kNever;
  std::set<TimePoint> expected_;
  bool out_ = false;
};

}  // namespace recourse::engine

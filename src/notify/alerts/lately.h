// What a node counts for its own alerts: attempts and losses of the last minutes, a window for each
// alert.
//
// Safe to use from any thread; the engine's thread tells it of every attempt.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "base/mutex.h"
#include "base/time.h"
#include "notify/alerts/alert.h"
#include "policy/rolling_window.h"

namespace recourse::notify {

class Lately {
 public:
  // Of those whose figure is over a time; the others cost nothing.
  explicit Lately(const std::vector<AlertDefinition>& alerts);

  void attempted(std::string_view kind, bool failed, TimePoint now);
  void took_over(int tasks, TimePoint now);
  void lost_node(TimePoint now);

  // Not a number where there is too little to tell.
  [[nodiscard]] double figure(const AlertDefinition& alert, TimePoint now);

 private:
  struct Counts {
    std::int64_t all = 0;
    std::int64_t bad = 0;

    Counts& operator+=(const Counts& other);
    Counts& operator-=(const Counts& other);
  };
  struct Window {
    AlertDefinition alert;
    policy::RollingWindow<Counts> counts;
  };

  void add(AlertFigure figure, std::string_view kind, const Counts& counts, TimePoint now);

  // So that a node without such alerts takes no lock.
  const bool any_;
  Mutex mutex_;
  std::vector<Window> windows_ GUARDED_BY(mutex_);
};

}  // namespace recourse::notify

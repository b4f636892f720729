#include "notify/alerts/lately.h"

#include <algorithm>
#include <limits>

namespace recourse::notify {

Lately::Counts& Lately::Counts::operator+=(const Counts& other) {
  all += other.all;
  bad += other.bad;
  return *this;
}

Lately::Counts& Lately::Counts::operator-=(const Counts& other) {
  all -= other.all;
  bad -= other.bad;
  return *this;
}

Lately::Lately(const std::vector<AlertDefinition>& alerts)
    : any_(std::ranges::any_of(
          alerts, [](const AlertDefinition& alert) { return is_over_a_time(alert.figure); })) {
  for (const AlertDefinition& alert : alerts) {
    if (!is_over_a_time(alert.figure)) continue;
    windows_.push_back({alert, policy::RollingWindow<Counts>(alert.within)});
  }
}

void Lately::attempted(std::string_view kind, bool failed, TimePoint now) {
  add(AlertFigure::kFailureRate, kind, {.all = 1, .bad = failed ? 1 : 0}, now);
}

void Lately::took_over(int tasks, TimePoint now) {
  add(AlertFigure::kTakeovers, "", {.bad = tasks}, now);
}

void Lately::lost_node(TimePoint now) { add(AlertFigure::kLostNodes, "", {.bad = 1}, now); }

void Lately::add(AlertFigure figure, std::string_view kind, const Counts& counted, TimePoint now) {
  if (!any_) return;
  const MutexLock lock(mutex_);
  for (Window& window : windows_) {
    if (window.alert.figure != figure) continue;
    if (!kind.empty() && !counts(window.alert, kind)) continue;
    window.counts.add(now, counted);
  }
}

double Lately::figure(const AlertDefinition& alert, TimePoint now) {
  constexpr double kNothing = std::numeric_limits<double>::quiet_NaN();
  const MutexLock lock(mutex_);
  const auto window =
      std::ranges::find(windows_, alert.name, [](const Window& one) { return one.alert.name; });
  if (window == windows_.end()) return kNothing;
  const Counts& total = window->counts.total(now);
  if (alert.figure != AlertFigure::kFailureRate) return static_cast<double>(total.bad);
  if (total.all < alert.min_attempts) return kNothing;
  return static_cast<double>(total.bad) / static_cast<double>(total.all);
}

}  // namespace recourse::notify

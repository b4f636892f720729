#include "api/figures.h"

#include <algorithm>
#include <numeric>

namespace recourse::api {
namespace {

constexpr Duration kStep = std::chrono::seconds(10);
constexpr std::size_t kSteps = 360;

double seconds_of(Duration duration) { return static_cast<double>(duration.count()) / 1e6; }

bool is_put_off(const engine::Moved& moved) {
  using policy::Category;
  return moved.category && !moved.took &&
         (*moved.category == Category::kOpenCircuit || *moved.category == Category::kRateLimited ||
          *moved.category == Category::kBulkheadFull);
}

}  // namespace

KindFigures& Figures::kind(const std::string& name) {
  const auto known = kinds_.find(name);
  if (known != kinds_.end()) return known->second;
  return kinds_[kinds_.size() < kKindLabelsMax ? name : "other"];
}

FigureStep& Figures::step() {
  const TimePoint now = clock_.now();
  const TimePoint at = now - now.time_since_epoch() % kStep;
  if (steps_.empty() || steps_.back().at < at) steps_.push_back({.at = at});
  if (steps_.size() > kSteps) steps_.pop_front();
  return steps_.back();
}

void Figures::submitted(const std::string& name, bool accepted) {
  MutexLock lock(mutex_);
  KindFigures& figures = kind(name);
  ++(accepted ? figures.submitted : figures.refused);
  if (accepted) ++step().submitted;
}

void Figures::happened(const engine::Happening& happening) {
  MutexLock lock(mutex_);
  std::visit([this](const auto& what) REQUIRES(mutex_) { count(what); }, happening);
}

void Figures::count(const engine::Moved& moved) {
  KindFigures& figures = kind(moved.kind.value);
  FigureStep& now = step();
  if (moved.took) {
    figures.took.add(seconds_of(*moved.took), kTimeBounds);
    now.took.add(seconds_of(*moved.took), kTimeBounds);
  }
  if (is_put_off(moved)) {
    ++figures.put_off;
  } else if (moved.category && moved.took) {
    ++figures.failures[static_cast<std::size_t>(*moved.category)];
  }
  const bool goes_on = moved.to == task::State::kPending || moved.to == task::State::kRunning;
  if (goes_on && moved.took) {
    ++figures.retried;
    ++now.retried;
  }
  if (goes_on || moved.to == task::State::kPaused) return;
  ++figures.ended[moved.to];
  figures.retries.add(moved.retries, kRetryBounds);
  if (moved.to == task::State::kSucceeded) ++now.succeeded;
  if (task::needs_person(moved.to)) ++now.ended_badly;
}

void Figures::count(const engine::BreakerChanged& changed) {
  if (changed.change.to == policy::BreakerState::kOpen) ++kind(changed.kind.value).breaker_openings;
}

void Figures::count(const engine::NodeHappened& happened) {
  node_events_[std::string(to_string(happened.event))] +=
      static_cast<std::uint64_t>(happened.count);
}

Figures::Snapshot Figures::snapshot() const {
  MutexLock lock(mutex_);
  return {kinds_, node_events_, {steps_.begin(), steps_.end()}};
}

double quantile(const Times& times, double q) {
  const auto total = std::accumulate(times.counts.begin(), times.counts.end(), std::uint64_t{0});
  if (total == 0) return 0;
  const double wanted = q * static_cast<double>(total);
  double seen = 0;
  for (std::size_t i = 0; i < kTimeBounds.size(); ++i) {
    const auto here = static_cast<double>(times.counts[i]);
    if (seen + here >= wanted && here > 0) {
      const double low = i == 0 ? 0 : kTimeBounds[i - 1];
      return low + (kTimeBounds[i] - low) * (wanted - seen) / here;
    }
    seen += here;
  }
  return kTimeBounds.back();
}

}  // namespace recourse::api

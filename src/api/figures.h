// What is counted on this node: totals for Prometheus, and the last hour in steps for charts.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/mutex.h"
#include "engine/core/happening.h"
#include "policy/decision.h"

namespace recourse::api {

// Seconds; the last bucket is open.
inline constexpr std::array kTimeBounds{0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25,
                                        0.5,   1.0,    2.5,   5.0,  10.0,  30.0, 60.0};
inline constexpr std::array kRetryBounds{0.0, 1.0, 2.0, 3.0, 5.0, 8.0, 13.0, 21.0};
// More kinds than this share the label `other`.
inline constexpr std::size_t kKindLabelsMax = 100;

template <std::size_t Bounds>
struct Distribution {
  std::array<std::uint64_t, Bounds + 1> counts{};
  double sum = 0;

  void add(double value, const std::array<double, Bounds>& bounds) {
    std::size_t i = 0;
    while (i < Bounds && value > bounds[i]) ++i;
    ++counts[i];
    sum += value;
  }
};
using Times = Distribution<kTimeBounds.size()>;

struct KindFigures {
  std::uint64_t submitted = 0;
  std::uint64_t refused = 0;
  std::map<task::State, std::uint64_t> ended;
  std::uint64_t retried = 0;
  std::uint64_t put_off = 0;
  std::uint64_t breaker_openings = 0;
  std::array<std::uint64_t, policy::kAllCategories.size()> failures{};
  Times took;
  Distribution<kRetryBounds.size()> retries;
};

// One step of the last hour.
struct FigureStep {
  TimePoint at = {};
  std::uint64_t submitted = 0;
  std::uint64_t succeeded = 0;
  std::uint64_t retried = 0;
  std::uint64_t ended_badly = 0;
  Times took = {};
};

// Safe to use from any thread.
class Figures {
 public:
  // The clock must outlive it.
  explicit Figures(const Clock& clock) : clock_(clock) {}

  void submitted(const std::string& kind, bool accepted);
  // On the core's thread.
  void happened(const engine::Happening& happening);

  struct Snapshot {
    std::map<std::string, KindFigures> kinds;
    std::map<std::string, std::uint64_t> node_events;
    std::vector<FigureStep> steps;  // oldest first
  };
  [[nodiscard]] Snapshot snapshot() const;

 private:
  KindFigures& kind(const std::string& name) REQUIRES(mutex_);
  FigureStep& step() REQUIRES(mutex_);
  void count(const engine::Moved& moved) REQUIRES(mutex_);
  void count(const engine::BreakerChanged& changed) REQUIRES(mutex_);
  void count(const engine::BatchChanged&) REQUIRES(mutex_) {}
  void count(const engine::NodeHappened& happened) REQUIRES(mutex_);

  const Clock& clock_;
  mutable Mutex mutex_;
  std::map<std::string, KindFigures> kinds_ GUARDED_BY(mutex_);
  std::map<std::string, std::uint64_t> node_events_ GUARDED_BY(mutex_);
  std::deque<FigureStep> steps_ GUARDED_BY(mutex_);
};

// Of what the buckets hold, up to the width of one; zero where there is nothing.
double quantile(const Times& times, double q);

}  // namespace recourse::api

#include "engine/core/lane.h"

#include <algorithm>
#include <utility>

namespace recourse::engine {
namespace {

// A lane's share where nobody says otherwise: one hanging kind leaves three quarters to the others.
constexpr int kShareOfThreads = 4;
// What is fetched ahead is run within this.
constexpr Duration kAhead = std::chrono::milliseconds(500);
// Until the first attempt has ended.
constexpr Duration kUsualTimeUnknown = std::chrono::milliseconds(50);
constexpr Duration kUsualTimeMin = std::chrono::microseconds(50);
constexpr std::int64_t kInTurnMax = 64;
constexpr Duration kIdleFor = std::chrono::minutes(30);

std::optional<policy::TokenBucket> bucket_of(const KindSettings& settings, int live_nodes,
                                             TimePoint now) {
  if (!settings.rate) return std::nullopt;
  policy::RateSettings rate = *settings.rate;
  if (settings.cluster_wide) {
    rate.per_second /= live_nodes;
    rate.burst = std::max(1, rate.burst / live_nodes);
  }
  return policy::TokenBucket(rate, now);
}

}  // namespace

Lane::Lane(task::Kind kind, const KindRules& rules, int threads, TimePoint now)
    : kind_(std::move(kind)),
      rules_(rules),
      concurrency_whole_(rules.settings.concurrency > 0 ? rules.settings.concurrency
                                                        : std::max(1, threads / kShareOfThreads)),
      concurrency_(concurrency_whole_),
      breaker_(rules.settings.breaker),
      rate_(bucket_of(rules.settings, 1, now)) {
  if (rules.settings.budget) budget_.emplace(*rules.settings.budget);
  backoffs_.emplace("", engine::backoff_of(rules, {}));
}

const policy::Backoff& Lane::backoff_of(const task::Task& task) {
  const std::string& name = task.spec.backoff;
  const auto known = backoffs_.find(name);
  if (known != backoffs_.end()) return known->second;
  return backoffs_.emplace(name, engine::backoff_of(rules_, name)).first->second;
}

int Lane::prefetch() const {
  const Duration usual =
      usual_time_ == Duration::zero() ? kUsualTimeUnknown : std::max(usual_time_, kUsualTimeMin);
  const auto soon = static_cast<std::int64_t>(concurrency_) * (kAhead / usual);
  return static_cast<int>(std::clamp<std::int64_t>(
      soon, std::min(concurrency_, rules_.settings.queue), rules_.settings.queue));
}

int Lane::capacity() const { return concurrency_ + prefetch(); }

int Lane::room(TimePoint now) const {
  if (paused_ || rules_.settings.outside) return 0;
  int most = capacity();
  if (rules_.settings.breaker_enabled && breaker_.state() != policy::BreakerState::kClosed) {
    const auto probes = breaker_.probes_at();
    if (probes && now < *probes) return 0;
    most = std::min(most, rules_.settings.breaker.probes);
  }
  const int taken = running_ + reserved_ + static_cast<int>(queue_.size());
  return std::max(0, most - taken);
}

bool Lane::has_next(TimePoint now) {
  if (paused_ || queue_.empty()) return false;
  return !rate_ || rate_->available_at(now) <= now;
}

TimePoint Lane::next_start(TimePoint now) {
  if (paused_ || queue_.empty() || !has_place() || !rate_) return kNever;
  return rate_->available_at(now);
}

int Lane::in_turn(Duration most) const {
  // Whoever completes later frees its thread at once.
  if (rules_.settings.asynchronous || usual_time_ == Duration::zero()) return 1;
  return static_cast<int>(std::clamp<std::int64_t>(most / usual_time_, 1, kInTurnMax));
}

Lane::Leave Lane::ask_leave(const task::Task& task, TimePoint now) {
  Leave leave;
  const bool is_retry = task.retries > 0;
  if (rules_.settings.breaker_enabled) {
    leave.permit = breaker_.acquire(now);
    if (!leave.permit) {
      leave.put_off =
          policy::put_off(policy::Category::kOpenCircuit, "the breaker of its kind is open",
                          rules_.settings.put_off_factor);
      return leave;
    }
  }
  if (is_retry && budget_ && !budget_->try_retry(now)) {
    abandon(std::exchange(leave.permit, std::nullopt));
    leave.put_off =
        policy::put_off(policy::Category::kRateLimited, "the retry budget of its kind is spent",
                        rules_.settings.put_off_factor);
    return leave;
  }
  if (!is_retry && budget_) budget_->count_first_attempt(now);
  if (rate_) (void)rate_->try_take(now);
  return leave;
}

std::optional<policy::BreakerChange> Lane::record(std::optional<policy::Permit> permit, bool failed,
                                                  Duration took, TimePoint now) {
  // Never zero again, which means unknown.
  usual_time_ =
      std::max(Duration(1), usual_time_ == Duration::zero() ? took : (usual_time_ * 7 + took) / 8);
  if (!permit) return std::nullopt;
  return breaker_.record(*permit, {.failed = failed, .took = took}, now);
}

void Lane::abandon(std::optional<policy::Permit> permit) {
  if (permit) breaker_.abandon(*permit);
}

void Lane::give_back(std::optional<policy::Permit> permit) {
  abandon(permit);
  if (rate_) rate_->give_back();
}

bool Lane::is_idle(TimePoint now) const {
  const bool is_empty = held == 0 && running_ == 0 && reserved_ == 0 && !may_have_more;
  return is_empty && !paused_ && breaker_.state() == policy::BreakerState::kClosed &&
         now >= saturating_add(last_start_, kIdleFor);
}

void Lane::set_live_nodes(int nodes, TimePoint now) {
  if (!rules_.settings.cluster_wide || nodes == live_nodes_) return;
  live_nodes_ = std::max(1, nodes);
  concurrency_ = std::max(1, concurrency_whole_ / live_nodes_);
  // A new bucket would be full: nothing is given away by nodes that come and go.
  if (!rate_) return;
  rate_ = bucket_of(rules_.settings, live_nodes_, now);
  while (rate_->try_take(now)) continue;
}

}  // namespace recourse::engine

#include "guard/keeper.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <utility>

#include "base/thread_name.h"

namespace recourse::guard {
namespace {

using SteadyClock = std::chrono::steady_clock;

// Of one push; then the next row's turn comes.
constexpr Duration kPushPatience = std::chrono::seconds(2);
// Before a push that failed is repeated.
constexpr Duration kPushAgainIn = std::chrono::milliseconds(300);

}  // namespace

Keeper::Keeper(GuardedTable& table, const Clock& clock, Log& log, Duration hold)
    : table_(table), clock_(clock), log_(log), hold_(hold), thread_([this] { run(); }) {}

Keeper::~Keeper() {
  {
    const MutexLock lock(mutex_);
    stopping_ = true;
    changed_.notify_all();
  }
  thread_.join();
}

Keeper::Kept::Kept(Keeper& keeper, Claim claim, BootTime claimed_at) : keeper_(keeper) {
  const MutexLock lock(keeper_.mutex_);
  keeper_.kept_.push_back({.claim = std::move(claim),
                           .ends_at = claimed_at + keeper_.hold_,
                           .push_at = claimed_at + keeper_.hold_ / 2});
  place_ = std::prev(keeper_.kept_.end());
  keeper_.changed_.notify_all();
}

bool Keeper::Kept::is_lost() const {
  const MutexLock lock(keeper_.mutex_);
  return !place_ || (*place_)->lost || keeper_.clock_.since_boot() >= (*place_)->ends_at;
}

std::optional<Claim> Keeper::Kept::release() {
  const MutexLock lock(keeper_.mutex_);
  if (!place_) return std::nullopt;
  const Place place = *place_;
  while (place->pushing) keeper_.changed_.wait(keeper_.mutex_);
  std::optional<Claim> claim;
  if (!place->lost) claim = std::move(place->claim);
  keeper_.kept_.erase(place);
  place_.reset();
  return claim;
}

Keeper::Place Keeper::next() {
  Place first = kept_.end();
  for (Place place = kept_.begin(); place != kept_.end(); ++place) {
    if (place->lost) continue;
    if (first == kept_.end() || place->push_at < first->push_at) first = place;
  }
  return first;
}

void Keeper::run() {
  name_this_thread("guard-keeper");
  mutex_.lock();
  while (!stopping_) {
    const Place place = next();
    if (place == kept_.end()) {
      changed_.wait(mutex_);
      continue;
    }
    const Duration left = place->push_at - clock_.since_boot();
    if (left > Duration::zero()) {
      changed_.wait_until(mutex_, SteadyClock::now() + left);
      continue;
    }
    place->pushing = true;
    mutex_.unlock();
    push(place);
    mutex_.lock();
  }
  mutex_.unlock();
}

// Nobody takes the row out of the list while it is being pushed.
void Keeper::push(Place place) {
  Claim claim = [&] {
    const MutexLock lock(mutex_);
    return place->claim;
  }();
  const BootTime sent_at = clock_.since_boot();
  const Result<bool> still_ours =
      table_.push(claim, hold_, std::min<Duration>(kPushPatience, hold_ / 4));
  {
    const MutexLock lock(mutex_);
    pushed(*place, claim, still_ours, sent_at);
    place->pushing = false;
    changed_.notify_all();
  }
  if (still_ours && *still_ours) return;
  const std::array<LogField, 3> fields{
      {{"guard", table_.settings().name},
       {"row", to_string(claim.row.id)},
       {"error", still_ours ? "the row is not ours any more" : still_ours.error().message}}};
  log_.write(LogLevel::kWarning, "guard_row_not_kept", fields);
}

void Keeper::pushed(Kept::State& kept, const Claim& claim, const Result<bool>& still_ours,
                    BootTime sent_at) {
  if (still_ours && *still_ours) {
    kept.claim = claim;
    kept.ends_at = sent_at + hold_;
    kept.push_at = sent_at + hold_ / 2;
    return;
  }
  // One that failed may still be ours, until its token ends.
  const BootTime again_at = clock_.since_boot() + kPushAgainIn;
  kept.lost = still_ours.has_value() || again_at >= kept.ends_at;
  kept.push_at = again_at;
}

}  // namespace recourse::guard

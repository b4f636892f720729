#include "guard/keeper.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "base/thread_name.h"

namespace recourse::guard {
namespace {

using SteadyClock = std::chrono::steady_clock;

// Of one push; then the next rows' turn comes.
constexpr Duration kPushPatience = std::chrono::seconds(2);
// Before a push that failed is repeated.
constexpr Duration kPushAgainIn = std::chrono::milliseconds(300);
// What would be pushed within this part of the hold is pushed now.
constexpr int kTogether = 10;

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

BootTime Keeper::next_push() {
  BootTime next = BootTime::max();
  for (const Kept::State& kept : kept_) {
    if (!kept.lost) next = std::min(next, kept.push_at);
  }
  return next;
}

std::vector<Keeper::Place> Keeper::take(BootTime by) {
  std::vector<Place> places;
  for (Place place = kept_.begin(); place != kept_.end(); ++place) {
    if (!place->lost && place->push_at <= by) places.push_back(place);
  }
  std::ranges::sort(places, {}, [](Place place) { return place->push_at; });
  if (places.size() > kPushedMax) places.resize(kPushedMax);
  for (const Place place : places) place->pushing = true;
  return places;
}

void Keeper::run() {
  name_this_thread("guard-keeper");
  mutex_.lock();
  while (!stopping_) {
    const BootTime next = next_push();
    if (next == BootTime::max()) {
      changed_.wait(mutex_);
      continue;
    }
    const BootTime now = clock_.since_boot();
    if (next > now) {
      changed_.wait_until(mutex_, SteadyClock::now() + (next - now));
      continue;
    }
    const std::vector<Place> places = take(now + hold_ / kTogether);
    mutex_.unlock();
    push(places);
    mutex_.lock();
  }
  mutex_.unlock();
}

// Nobody takes a row out of the list while it is being pushed.
void Keeper::push(const std::vector<Place>& places) {
  std::vector<Claim> claims;
  {
    const MutexLock lock(mutex_);
    for (const Place place : places) claims.push_back(place->claim);
  }
  const BootTime sent_at = clock_.since_boot();
  const auto answers = table_.push(claims, hold_, std::min<Duration>(kPushPatience, hold_ / 4));
  {
    const MutexLock lock(mutex_);
    for (std::size_t i = 0; i < places.size(); ++i) {
      pushed(*places[i], claims[i], answers ? (*answers)[i] : Pushed::kLocked, sent_at);
      places[i]->pushing = false;
    }
    changed_.notify_all();
  }
  for (std::size_t i = 0; i < claims.size(); ++i) {
    if (!answers) {
      say_not_kept(claims[i].row.id, answers.error().message);
    } else if ((*answers)[i] != Pushed::kHeld) {
      say_not_kept(claims[i].row.id, (*answers)[i] == Pushed::kLost
                                         ? "the row is not ours any more"
                                         : "somebody has locked the row");
    }
  }
}

// One that was not reached may still be ours, until its token ends.
void Keeper::pushed(Kept::State& kept, const Claim& claim, Pushed pushed, BootTime sent_at) {
  if (pushed == Pushed::kHeld) {
    kept.claim = claim;
    kept.ends_at = sent_at + hold_;
    kept.push_at = sent_at + hold_ / 2;
    return;
  }
  const BootTime again_at = clock_.since_boot() + kPushAgainIn;
  kept.lost = pushed == Pushed::kLost || again_at >= kept.ends_at;
  kept.push_at = again_at;
}

void Keeper::say_not_kept(const RowId& id, const std::string& why) {
  log_.warning("guard_row_not_kept",
               {{"guard", table_.settings().name}, {"row", to_string(id)}, {"error", why}});
}

}  // namespace recourse::guard

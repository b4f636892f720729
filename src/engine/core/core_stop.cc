// Leaving in order: intake, claims, what has not started, what runs, the node's own row.
#include <algorithm>
#include <utility>

#include "base/planted_bug.h"
#include "engine/core/core.h"

namespace recourse::engine {
namespace {

// What a store that does not answer may cost beyond the limit, for the last outcomes and for the
// node's own row.
constexpr Duration kLastCalls = std::chrono::seconds(3);

}  // namespace

Duration Core::call_timeout(TimePoint now) const {
  if (!stopping_ || stopping_->limit_at == kNever) return settings_.store_timeout;
  const Duration left = std::max(Duration::zero(), stopping_->limit_at - now);
  return std::min(settings_.store_timeout, left + kLastCalls);
}

void Core::handle(const StopRequest& event, TimePoint now, Commands& out) {
  // Not in this very turn: what is recalled comes back in the next, and is handed back.
  const TimePoint limit_at = saturating_add(now, std::max(event.limit, Duration(1)));
  if (stopping_) {
    // Asked again: never later than before.
    stopping_->limit_at = std::min(stopping_->limit_at, limit_at);
    return;
  }
  stopping_.emplace(Stopping{.limit_at = limit_at, .totals = {}});
  recall_unbegun(out);
  release_unstarted(now);
}

void Core::release_unstarted(TimePoint now) {
  if (planted(PlantedBug::kStopKeepsUnstarted)) return;
  std::vector<HeldTask*> unstarted;
  for (const auto& [id, held] : held_) {
    if (is_unstarted(held->stage)) unstarted.push_back(held.get());
  }
  for (HeldTask* held : unstarted) release(*held, store_time_.at(now), now);
}

// Those, too, whose task is somebody else's by now: their threads are waited for all the same.
void Core::cut_off(Commands& out) {
  for (const auto& [id, attempt] : attempts_) {
    if (attempt->decided) continue;
    const HeldTask* held = find_held(attempt->task);
    if (held != nullptr && held->stage == Stage::kRunning) ++stopping_->totals.cut_off;
    attempt->decided = true;
    attempt->told_to_stop = true;
    out.emplace_back(StopAttempt{.attempt = id, .reason = StopReason::kCutOff});
  }
}

void Core::go_on_stopping(TimePoint now, Commands& out) {
  Stopping& stop = *stopping_;
  if (stop.leaving) {
    if (!life_.has_left() || stop.said) return;
    // What was cut off is free for others at once.
    if (stop.totals.cut_off > 0) out.emplace_back(Adopt{.within = call_timeout(now)});
    out.emplace_back(Stopped(stop.totals));
    stop.said = true;
    return;
  }
  const bool past_limit = now >= stop.limit_at;
  if (past_limit && stop.flush_by == kNever) {
    cut_off(out);
    stop.flush_by = now + std::min(settings_.store_timeout, kLastCalls);
  }
  const bool written = ingest_.idle() && following_.empty() && outcomes_.idle() && !claim_ &&
                       starts_to_record_.empty() && !recording_starts_;
  bool runs = false;
  for (const auto& [id, attempt] : attempts_) runs = runs || !attempt->decided;
  if ((written && !runs) || now >= stop.flush_by) {
    stop.leaving = true;
    life_.leave(now, std::min(settings_.store_timeout, kLastCalls), out);
    if (life_.has_left()) go_on_stopping(now, out);
  }
}

}  // namespace recourse::engine

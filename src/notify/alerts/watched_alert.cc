#include "notify/alerts/watched_alert.h"

#include <cmath>

namespace recourse::notify {

// Where there is nothing to say any more, what fired is over: a rate without attempts is no rate.
double WatchedAlert::figure_of(const AlertLook& look) const {
  if (!std::isnan(look.figure) || !rule_.firing()) return look.figure;
  return settings_.side == policy::AlertSide::kAbove ? 0 : settings_.clear_at;
}

std::optional<AlertStep> WatchedAlert::look(const AlertLook& look) {
  rule_.assume(look.stored && look.stored->firing);
  const double figure = figure_of(look);
  if (!rule_.observe(look.steady, figure)) return go_on(look);
  return AlertStep{.write = {.firing = rule_.firing(),
                             .since = look.wall,
                             .id = look.fresh_id,
                             .figure = figure,
                             .node = look.node,
                             .held_until = look.wall + times_.hold,
                             .written_at = look.wall},
                   .tell = true};
}

void WatchedAlert::ended(const std::string& id, bool told) {
  // One of an earlier change may end late.
  if (out_ && out_->id == id) out_->told = told;
}

std::optional<AlertState> WatchedAlert::told_mark(const std::optional<AlertState>& stored,
                                                  TimePoint wall) const {
  if (!stored || stored->told || !out_ || out_->id != stored->id || out_->told != true) {
    return std::nullopt;
  }
  AlertState told = *stored;
  told.told = true;
  told.written_at = wall;
  return told;
}

std::optional<AlertStep> WatchedAlert::go_on(const AlertLook& look) {
  if (!look.stored) return std::nullopt;
  if (auto told = told_mark(look.stored, look.wall)) return AlertStep{.write = *std::move(told)};
  AlertStep step{.write = *look.stored};
  step.write.written_at = look.wall;
  if (!look.stored->told) {
    const bool is_out = out_ && out_->id == look.stored->id && !out_->told;
    const bool hold_ends = look.wall >= look.stored->held_until - times_.hold / 2;
    const bool is_free = look.wall >= look.stored->held_until;
    if (is_out ? hold_ends : is_free) {
      step.write.held_until = look.wall + times_.hold;
      step.tell = !is_out;
      return step;
    }
  }
  if (look.stored->firing && look.wall >= look.stored->written_at + times_.kept / 2) return step;
  return std::nullopt;
}

}  // namespace recourse::notify

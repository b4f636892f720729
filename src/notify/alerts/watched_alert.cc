#include "notify/alerts/watched_alert.h"

namespace recourse::notify {

std::optional<AlertStep> WatchedAlert::look(const AlertLook& look) {
  rule_.assume(look.stored && look.stored->firing);
  if (!rule_.observe(look.steady, look.figure)) return go_on(look);
  return AlertStep{.write = {.firing = rule_.firing(),
                             .since = look.wall,
                             .id = look.fresh_id,
                             .figure = look.figure,
                             .node = look.node,
                             .held_until = look.wall + kAlertHold,
                             .written_at = look.wall},
                   .tell = true};
}

void WatchedAlert::ended(const std::string& id, bool told) {
  // One of an earlier change may end late.
  if (out_ && out_->id == id) out_->told = told;
}

std::optional<AlertStep> WatchedAlert::go_on(const AlertLook& look) {
  if (!look.stored) return std::nullopt;
  AlertStep step{.write = *look.stored};
  step.write.written_at = look.wall;
  const bool mine = out_ && out_->id == look.stored->id;
  if (!look.stored->told) {
    if (mine && out_->told == true) {
      step.write.told = true;
      return step;
    }
    const bool is_out = mine && !out_->told;
    const bool hold_ends = look.wall >= look.stored->held_until - kAlertHold / 2;
    const bool is_free = look.wall >= look.stored->held_until;
    if (is_out ? hold_ends : is_free) {
      step.write.held_until = look.wall + kAlertHold;
      step.tell = !is_out;
      return step;
    }
  }
  if (look.stored->firing && look.wall >= look.stored->written_at + kAlertKept / 2) return step;
  return std::nullopt;
}

}  // namespace recourse::notify

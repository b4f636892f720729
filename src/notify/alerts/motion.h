// How long something that ought to move has stood still, by this node's own clock: no clock of
// another machine is compared. Pure.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

#include "base/clock.h"
#include "store/node.h"

namespace recourse::notify {

class Motion {
 public:
  // Zero where `mark` is another than before.
  Duration still_for(std::uint64_t mark, BootTime now) {
    if (mark_ != mark) {
      mark_ = mark;
      since_ = now;
    }
    return now - since_;
  }

 private:
  std::optional<std::uint64_t> mark_;
  BootTime since_{};
};

// Another one with every heartbeat of any node. Of dead ones too: that a node leaves is no
// heartbeat.
inline std::uint64_t mark_of(const std::vector<store::NodeRow>& nodes) {
  std::int64_t newest = 0;
  for (const store::NodeRow& node : nodes) {
    newest = std::max(newest, node.beat_at.time_since_epoch().count());
  }
  return static_cast<std::uint64_t>(newest);
}

}  // namespace recourse::notify

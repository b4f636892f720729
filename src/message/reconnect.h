// When to try again after a connection was lost: at once the first time, then after pauses that
// double up to a maximum, each somewhere in its upper half, so that a crowd that lost one broker
// does not come back together.
//
// Pure: the caller hands in what time it is.
#pragma once

#include <chrono>

#include "base/rng.h"
#include "base/time.h"
#include "message/broker.h"

namespace recourse::message {

class ReconnectPace {
 public:
  ReconnectPace(Duration pause_min, Duration pause_max, std::uint64_t seed)
      : pause_min_(pause_min), pause_max_(pause_max), rng_(seed) {}

  [[nodiscard]] Deadline next_try() const { return next_try_; }

  void failed(Deadline now) {
    pause_ = pause_ == Duration::zero() ? pause_min_ : std::min(pause_ * 2, pause_max_);
    next_try_ = now + rng_.between(pause_ / 2, pause_);
  }
  void succeeded() { pause_ = Duration::zero(); }

 private:
  Duration pause_min_;
  Duration pause_max_;
  Duration pause_ = Duration::zero();
  Deadline next_try_{};
  Rng rng_;
};

}  // namespace recourse::message
